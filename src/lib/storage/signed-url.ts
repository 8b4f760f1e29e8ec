import { createHmac, timingSafeEqual } from "node:crypto";
import { withoutEndSlashes } from "../end-slashes.ts";

export interface UrlToSign {
  /** The service's public address; its path is not signed, because a proxy may strip it. */
  readonly baseUrl: string;
  /** The path as the service will receive it, beginning with a slash, already escaped, without query. */
  readonly path: string;
  /** The last moment of the URL's validity, cut to whole seconds. */
  readonly expiresAt: Date;
  /** Secret of at least 32 bytes, used for nothing else. */
  readonly key: Uint8Array;
}

export type Verdict =
  | { readonly ok: true; readonly path: string; readonly expiresAt: Date }
  | { readonly ok: false; readonly fault: "signature" | "expired" };

/**
 * Signs an address that anybody with it can read until it expires: `expires` is Unix seconds, `signature` HMAC-SHA256.
 */
export function signUrl({ baseUrl, path, expiresAt, key }: UrlToSign): string {
  const expires = String(Math.floor(expiresAt.getTime() / 1000));
  return `${withoutEndSlashes(baseUrl)}${path}?expires=${expires}&signature=${signature(path, expires, key)}`;
}

/**
 * Checks path and query of a request as received. It checks the signature before the time, so that strangers learn
 * nothing.
 */
export function verifyUrl(target: string, now: Date, key: Uint8Array): Verdict {
  const question = target.indexOf("?");
  const path = question === -1 ? target : target.slice(0, question);
  const query = new URLSearchParams(question === -1 ? "" : target.slice(question + 1));
  const [expires = "", ...furtherExpires] = query.getAll("expires");
  const [given = "", ...furtherSignatures] = query.getAll("signature");
  const repeated = furtherExpires.length + furtherSignatures.length > 0;
  if (repeated || !/^[0-9]{1,11}$/.test(expires) || !equal(given, signature(path, expires, key)))
    return { ok: false, fault: "signature" };
  const expiresAt = new Date(Number(expires) * 1000);
  return now > expiresAt ? { ok: false, fault: "expired" } : { ok: true, path, expiresAt };
}

function signature(path: string, expires: string, key: Uint8Array): string {
  // Neither part of a request can contain a line feed, so different pairs make different texts.
  return createHmac("sha256", key).update(`${path}\n${expires}`).digest("base64url");
}

/** Compares the encoded texts, because base64url has several spellings of the same bytes. */
function equal(given: string, expected: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}
