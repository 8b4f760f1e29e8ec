import { createHmac } from "node:crypto";

/** Where the record stands that proves who owns a name. */
export function ownershipRecord(name: string): string {
  return `_svc-verify.${name}`;
}

/**
 * The text that proves that a workspace owns a name: nobody can guess it, and no other workspace can use it. It follows from
 * the key, so that a workspace can be told of it before the name is its own. `key` is derived for `domain-ownership`.
 */
export function ownershipToken(key: Uint8Array, workspaceId: string, name: string): string {
  return createHmac("sha256", key).update(`${workspaceId}/${name}`).digest("base64url").slice(0, 32);
}
