import { randomInt } from "node:crypto";
import { isUuid } from "../../lib/ids.ts";

/**
 * 1 to 64 letters, digits, hyphens and underscores, with a letter or digit at both ends. Short links differ by case.
 */
export const shortlinkPattern = "[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?";
const shortlinkForm = new RegExp(`^${shortlinkPattern}$`);

/** Paths of the service itself, in any case. No host gives them to a link. */
const reservedNames: ReadonlySet<string> = new Set([
  "api",
  "v1",
  ".well-known",
  "robots.txt",
  "favicon.ico",
  "health",
  "metrics",
  "docs",
  "openapi.json",
  "auth",
  "mcp",
  "_p",
]);

/**
 * `invalid` does not have the form of a short link, `reserved` belongs to the service, `id` looks like a link's id,
 * `open` may be given.
 */
export type ShortlinkClass = "invalid" | "reserved" | "id" | "open";

/** The class of a text as a short link. Only the database knows whether it is in use. */
export function classifyShortlink(text: string): ShortlinkClass {
  if (reservedNames.has(text.toLowerCase())) return "reserved";
  if (!shortlinkForm.test(text)) return "invalid";
  return isUuid(text) ? "id" : "open";
}

/** How long nobody else gets the short link of a deleted link, in milliseconds: 90 days. */
export const reservationMs = 90 * 24 * 60 * 60 * 1000;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A short link that nobody can guess, such as `4BnH-R19p`: two groups of four, 62^8 in all. */
export function randomShortlink(): string {
  // randomInt draws again instead of taking a remainder, so every character is equally likely.
  const character = () => alphabet.charAt(randomInt(alphabet.length));
  const group = () => character() + character() + character() + character();
  return `${group()}-${group()}`;
}
