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
