import { localFolderStorage } from "./storage-local.ts";
import type { S3Config } from "./storage-s3.ts";

export interface StoredFile {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/**
 * Files by key, for images and exports: whole files, megabytes at most. Keys are as `storage-key.ts` describes, and the
 * extension decides the content type, so files can be copied between a folder and a bucket as they are. A malformed key
 * is a RangeError; a storage that cannot be reached is an Error.
 */
export interface Storage {
  /** Stores or replaces a file; durable once resolved. Readers see the old file or the new one, never a part. */
  put(key: string, bytes: Uint8Array, options: { readonly contentType: string }): Promise<void>;
  get(key: string): Promise<StoredFile | undefined>;
  /** Removes a file; nothing happens when there is none. */
  delete(key: string): Promise<void>;
}

export interface StorageConfig {
  /** The folder for files when there is no bucket; made when missing. */
  readonly directory: string;
  readonly s3?: S3Config | undefined;
}

/** The bucket when one is configured, else the local folder. */
export async function openStorage({ directory, s3 }: StorageConfig): Promise<Storage> {
  if (s3 === undefined) return localFolderStorage(directory);
  // What signs and sends requests is loaded only by who needs it.
  const { s3Storage } = await import("./storage-s3.ts");
  return s3Storage(s3);
}
