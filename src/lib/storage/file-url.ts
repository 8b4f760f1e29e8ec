import { withoutEndSlashes } from "../end-slashes.ts";
import { signUrl } from "./signed-url.ts";

/** The path of stored files; the storage key follows. Keys need no escaping. */
export const filesPath = "/_p/files/";

const publicFolder = "public/";

/** The path of files that anyone may read. */
export const publicFilesPath = `${filesPath}${publicFolder}`;

/** Whether anyone may read a stored file without a signature. */
export function isPublicFile(storageKey: string): boolean {
  return storageKey.startsWith(publicFolder);
}

/** The address of a file that anyone may read. */
export function publicFileUrl(storageKey: string, baseUrl: string): string {
  if (!isPublicFile(storageKey)) throw new RangeError(`${storageKey} is not public`);
  return `${withoutEndSlashes(baseUrl)}${filesPath}${storageKey}`;
}

/** The signed address of a stored file; anybody with the address can read the file until it expires. */
export function signFileUrl(
  storageKey: string,
  {
    baseUrl,
    expiresAt,
    key,
  }: { readonly baseUrl: string; readonly expiresAt: Date; readonly key: Uint8Array },
): string {
  return signUrl({ baseUrl, path: filesPath + storageKey, expiresAt, key });
}
