import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Storage } from "./storage.ts";
import { checkKey } from "./storage-key.ts";

/** Keeps files in a local folder, readable by the service's own user only. */
export function localFolderStorage(directory: string): Storage {
  const root = resolve(directory);
  return {
    async put(key, bytes, { contentType }) {
      checkKey(key, contentType);
      await writeDurably(root, join(root, key), bytes);
    },
    async get(key) {
      const contentType = checkKey(key);
      const bytes = await readFile(join(root, key)).catch(ignoreMissing);
      return bytes === undefined ? undefined : { bytes, contentType };
    },
    async delete(key) {
      checkKey(key);
      await rm(join(root, key), { force: true });
    },
  };
}

/** Writes a file somewhere below the folder `root`, whole or not at all, readable by the service's own user only. */
export async function writeDurably(root: string, path: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(path);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  // No key begins with a dot, so the leftovers of a crash are never served.
  const temporary = join(root, `.${randomUUID()}.part`);
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolders(folder, made === undefined ? folder : dirname(made));
}

/** Flushes folders to disk: a new file is durable only once its folder is, and so is a new folder. */
async function syncFolders(from: string, to: string): Promise<void> {
  for (let folder = from; ; folder = dirname(folder)) {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (folder === to || folder === dirname(folder)) return;
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
