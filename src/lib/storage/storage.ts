export interface StoredFile {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/**
 * Files by key, for images and exports: whole files, megabytes at most. `storage-key.ts` describes the keys. The
 * extension decides the content type, so files can be copied between a folder and a bucket unchanged. A malformed key
 * throws a RangeError; an unreachable storage throws an Error.
 */
export interface Storage {
  /** Stores or replaces a file; durable once resolved. Readers see the old file or the new one, never a part. */
  put(key: string, bytes: Uint8Array, options: { readonly contentType: string }): Promise<void>;
  get(key: string): Promise<StoredFile | undefined>;
  /** Deletes a file; succeeds when there is none. */
  delete(key: string): Promise<void>;
}
