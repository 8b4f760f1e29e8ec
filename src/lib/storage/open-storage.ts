import type { Storage } from "./storage.ts";
import { localFolderStorage } from "./storage-local.ts";
import type { S3Config } from "./storage-s3.ts";

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
