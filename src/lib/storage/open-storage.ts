import type { Storage } from "./storage.ts";
import { localFolderStorage } from "./storage-local.ts";
import type { S3Config } from "./storage-s3.ts";

export interface StorageConfig {
  /** The folder for files when there is no bucket; created when missing. */
  readonly directory: string;
  readonly s3?: S3Config | undefined;
}

/** Opens the configured bucket, or else the local folder. */
export async function openStorage({ directory, s3 }: StorageConfig): Promise<Storage> {
  if (s3 === undefined) return localFolderStorage(directory);
  // Only installations with a bucket load the code that signs and sends requests.
  const { s3Storage } = await import("./storage-s3.ts");
  return s3Storage(s3);
}
