import { open, readFile, stat } from "node:fs/promises";
import type { Storage } from "./storage.ts";
import { checkKey } from "./storage-key.ts";

/** The storage, with some files that come with the program: they are there from the start, and nothing changes them. */
export function withShippedFiles(storage: Storage, files: ReadonlyMap<string, URL>): Storage {
  const refuse = (key: string) => {
    if (files.has(key)) throw new RangeError(`the file ${key} comes with the program`);
  };
  return {
    async put(key, bytes, options) {
      refuse(key);
      await storage.put(key, bytes, options);
    },
    async putFile(key, path, sha256) {
      refuse(key);
      await storage.putFile(key, path, sha256);
    },
    async get(key) {
      const file = files.get(key);
      return file === undefined
        ? storage.get(key)
        : { bytes: await readFile(file), contentType: checkKey(key) };
    },
    async sizeOf(key) {
      const file = files.get(key);
      return file === undefined ? storage.sizeOf(key) : (await stat(file)).size;
    },
    async read(key, { first, last }) {
      const file = files.get(key);
      if (file === undefined) return storage.read(key, { first, last });
      return (await open(file)).createReadStream({ start: first, end: last });
    },
    async delete(key) {
      if (!files.has(key)) await storage.delete(key);
    },
  };
}
