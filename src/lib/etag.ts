import { createHash } from "node:crypto";

/** The entity tag of bytes: equal for equal bytes. */
export function etagOf(bytes: Uint8Array): string {
  return `"${createHash("sha256").update(bytes).digest("base64url")}"`;
}

/** Whether a client that sends this `If-None-Match` has the content of a tag. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? "").split(",").some((tag) => ["*", etag, `W/${etag}`].includes(tag.trim()));
}

/**
 * How a browser treats pictures of ours. Pages embed them. Opened on its own, a picture must not run scripts under our
 * host name.
 */
export const pictureHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
} as const;
