import { mkdtemp, statfs } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/** Linux keeps the files of this folder in memory. */
const inMemory = "/dev/shm";

/** The least room, in bytes, for databases in memory; a run takes a quarter of it. */
const roomMin = 4 * 2 ** 30;

/**
 * Makes a new folder for the data of a database, in memory if there is room. A test database is a thousand small files,
 * and a disk's file system takes ten times as long to make and remove them. Memory forgets nothing when a process is
 * killed.
 */
export async function quickFolder(prefix: string): Promise<string> {
  return mkdtemp(join((await hasRoom()) ? inMemory : tmpdir(), prefix));
}

async function hasRoom(): Promise<boolean> {
  const room = await statfs(inMemory).catch(() => undefined);
  return room !== undefined && Math.min(room.bavail * room.bsize, freemem()) > roomMin;
}
