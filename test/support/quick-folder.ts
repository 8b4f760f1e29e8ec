import { mkdtemp, readdir, readlink, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Linux keeps the files of this folder in memory. */
export const inMemory = "/dev/shm";

/** The least room, in bytes, for databases in memory; a run takes a quarter of it. */
const roomMin = 4 * 2 ** 30;

/**
 * Makes a new folder for the data of a database, in memory if there is room. A test database is a thousand small files,
 * and a disk's file system takes ten times as long to make and remove them. Memory forgets nothing when a process is
 * killed, so the name tells the process.
 */
export async function quickFolder(prefix: string): Promise<string> {
  if (await hasRoom())
    try {
      return await mkdtemp(join(inMemory, `${await nameOfProcess(prefix)}-`));
    } catch {
      // The folder is not writable, or has no room for more files: the disk has.
    }
  return mkdtemp(join(tmpdir(), prefix));
}

/** In a container the room may be 64 MB, or count as memory of the container, which has a limit of its own. */
async function hasRoom(): Promise<boolean> {
  const room = await statfs(inMemory).catch(() => undefined);
  return room !== undefined && Math.min(room.bavail * room.bsize, process.availableMemory()) > roomMin;
}

/** A name that tells which process made the thing. Containers that share a folder count their processes each for itself. */
export async function nameOfProcess(prefix: string): Promise<string> {
  return `${prefix}${await namespace()}-${process.pid}`;
}

async function namespace(): Promise<string> {
  const link = await readlink("/proc/self/ns/pid").catch(() => "");
  return /\d+/.exec(link)?.[0] ?? "0";
}

/** Removes what processes of earlier runs, which were killed, have left in a folder. */
export async function removeAbandoned(folder: string): Promise<void> {
  const own = await namespace();
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, where, pid] = /^(?:scan|dist-test|signpost-[a-z]+)-(\d+)-(\d+)(?:-\w{6})?$/.exec(name) ?? [];
    if (where === own && !isAlive(Number(pid)))
      // What another account left is for that account to remove.
      await rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
