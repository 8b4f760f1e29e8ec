import { signUrl } from "./signed-url.ts";

/** Where stored files are served; the storage key follows. Keys need no escaping. */
export const filesPath = "/_p/files/";

/** The address a stored file can be read at by whoever holds it, until it expires. */
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
