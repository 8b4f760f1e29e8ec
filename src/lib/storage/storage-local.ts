import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
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
    async putFile(key, path) {
      checkKey(key);
      await replaceDurably(root, join(root, key), (temporary) =>
        // Where the file system can, the copy shares the blocks of the file.
        copyFile(path, temporary, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL),
      );
    },
    async sizeOf(key) {
      checkKey(key);
      return (await stat(join(root, key)).catch(ignoreMissing))?.size;
    },
    async read(key, { first, last }) {
      checkKey(key);
      const file = await open(join(root, key), "r").catch(ignoreMissing);
      return file?.createReadStream({ start: first, end: last });
    },
    async delete(key) {
      checkKey(key);
      await rm(join(root, key), { force: true });
    },
  };
}

/** Writes a file somewhere below the folder `root`, whole or not at all, readable by the service's own user only. */
export function writeDurably(root: string, path: string, bytes: Uint8Array): Promise<void> {
  return replaceDurably(root, path, (temporary) => writeFile(temporary, bytes, { flag: "wx", mode: 0o600 }));
}

async function replaceDurably(
  root: string,
  path: string,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const folder = dirname(path);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  // No key begins with a dot, so the leftovers of a crash are never served.
  const temporary = join(root, `.${randomUUID()}.part`);
  try {
    await write(temporary);
    const file = await open(temporary, "r+");
    try {
      await file.chmod(0o600);
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
