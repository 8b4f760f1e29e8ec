import type { Readable } from "node:stream";

export interface StoredFile {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** Which bytes of a file, both inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Files by key. Images and documents are whole files, megabytes at most; exports are read and written as streams. `storage-key.ts` describes the keys. The
 * extension decides the content type, so files can be copied between a folder and a bucket unchanged. A malformed key
 * throws a RangeError; an unreachable storage throws an Error.
 */
export interface Storage {
  /** Stores or replaces a file; durable once resolved. Readers see the old file or the new one, never a part. */
  put(key: string, bytes: Uint8Array, options: { readonly contentType: string }): Promise<void>;
  get(key: string): Promise<StoredFile | undefined>;
  /** Stores a copy of a local file, whose content has this SHA-256 in hexadecimal; like `put` in all else. */
  putFile(key: string, path: string, sha256: string): Promise<void>;
  /** How many bytes a file has; undefined when there is none. */
  sizeOf(key: string): Promise<number | undefined>;
  /** Some bytes of a file as a stream, which goes as fast as its reader; undefined when there is no such file. */
  read(key: string, range: ByteRange): Promise<Readable | undefined>;
  /** Deletes a file; succeeds when there is none. */
  delete(key: string): Promise<void>;
}
