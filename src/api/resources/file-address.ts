import type { Deps } from "../deps.ts";

/** How long the addresses of files are good, in milliseconds. */
const addressMs = 60 * 60 * 1000;

/** Makes the address of a stored file. */
export type SignFile = (storageKey: string) => string;

/** Makes addresses that are good for an hour from now. */
export function fileSigner({ now, signFileUrl }: Pick<Deps, "now" | "signFileUrl">): SignFile {
  const expiresAt = new Date(now().getTime() + addressMs);
  return (storageKey) => signFileUrl(storageKey, expiresAt);
}
