import { withShippedFiles } from "./shipped-files.ts";
import type { Storage } from "./storage.ts";
import { localFolderStorage } from "./storage-local.ts";
import type { S3Config } from "./storage-s3.ts";

export interface StorageConfig {
  /** The folder for files when there is no bucket; created when missing. */
  readonly directory: string;
  readonly s3?: S3Config | undefined;
  /** Files that come with the program, by key. */
  readonly shipped?: ReadonlyMap<string, URL> | undefined;
}

/** Opens the configured bucket, or else the local folder. */
export async function openStorage({ directory, s3, shipped }: StorageConfig): Promise<Storage> {
  const storage = s3 === undefined ? localFolderStorage(directory) : await openBucket(s3);
  return shipped === undefined ? storage : withShippedFiles(storage, shipped);
}

async function openBucket(s3: S3Config): Promise<Storage> {
  // Only installations with a bucket load the code that signs and sends requests.
  const { s3Storage } = await import("./storage-s3.ts");
  return s3Storage(s3);
}
