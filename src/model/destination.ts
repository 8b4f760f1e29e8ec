import { domainToUnicode } from "node:url";
import { classifyShortlink } from "./shortlink.ts";

/** Most characters of a destination. */
export const destinationLengthMax = 2_048;

/** Schemes that run code, or read what belongs to the browser or the device; all that are not listed may be apps'. */
const refusedSchemes: ReadonlySet<string> = new Set([
  "javascript",
  "data",
  "file",
  "blob",
  "vbscript",
  "about",
  "filesystem",
  "view-source",
]);

/** RFC 3986, section 3.1. */
const schemeForm = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s;

/**
 * What is wrong with a destination, in words for the client; undefined when it is good. Good are web addresses with a
 * host, and mailto, tel, sms, geo and app schemes. The text is never changed: it is stored and sent as it came.
 */
export function destinationFault(text: string): string | undefined {
  if ([...text].length > destinationLengthMax)
    return `must have at most ${destinationLengthMax.toLocaleString("en")} characters`;
  // Browsers drop some of these while they read a URL, so that `java\nscript:` would run.
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) || !text.isWellFormed())
    return "must not contain control characters";
  const [, scheme = "", rest = ""] = schemeForm.exec(text) ?? [];
  if (scheme === "" || isHostAndPort(scheme, rest))
    return "must begin with a scheme, such as https://example.com";
  if (refusedSchemes.has(scheme.toLowerCase())) return `must not have the scheme ${scheme.toLowerCase()}`;
  if (isWeb(scheme)) return webFault(text, rest);
  return rest.trim() === "" ? `must have something after ${scheme.toLowerCase()}:` : undefined;
}

function isWeb(scheme: string): boolean {
  return /^https?$/i.test(scheme);
}

// `example.com:8080/menu` has the form of a URL with the scheme `example.com`, and is none.
function isHostAndPort(scheme: string, rest: string): boolean {
  return (scheme.includes(".") || scheme.toLowerCase() === "localhost") && /^\d{1,5}(?:[/?#]|$)/.test(rest);
}

function webFault(text: string, rest: string): string | undefined {
  const [address = ""] = rest.split(/[?#]/, 1);
  // Readers of URLs disagree on backslashes and on missing slashes, so that one would check another host than is visited.
  if (!/^\/\/[^/]/.test(address) || address.includes("\\"))
    return "must have a host after //, such as https://example.com";
  return URL.canParse(text) ? undefined : "is not a readable web address";
}

/** The host of a good web address as it is looked up, in lower case and punycode; undefined for other schemes. */
export function hostOf(destination: string): string | undefined {
  const [, scheme = ""] = schemeForm.exec(destination) ?? [];
  if (!isWeb(scheme) || !URL.canParse(destination)) return undefined;
  return new URL(destination).hostname.replace(/\.$/, "");
}

/** A host and the domains above it, as the block list names them: `a.b.example`, `b.example`, `example`. */
export function hostAndParents(host: string): string[] {
  if (host.startsWith("[") || /^[\d.]+$/.test(host)) return [host];
  const labels = host.split(".");
  return labels.map((_, index) => labels.slice(index).join("."));
}

/** What people would call a good destination: its host, or what follows the scheme; at most 255 characters. */
export function destinationName(destination: string): string {
  const host = hostOf(destination);
  if (host !== undefined) return domainToUnicode(host) || host;
  const [, scheme = "", rest = ""] = schemeForm.exec(destination) ?? [];
  const [name = ""] = rest.replace(/^\/+/, "").split(/[?#]/, 1);
  return [...(name.trim() || scheme)].slice(0, 255).join("");
}

/**
 * Whether a good destination is itself a short link on one of the given origins (`https://go.example`): such links can
 * lead to each other in a circle. Other pages of these origins are fine.
 */
export function isShortlinkOf(origins: readonly string[], destination: string): boolean {
  if (hostOf(destination) === undefined) return false;
  const { host, pathname } = new URL(destination);
  if (!origins.some((origin) => new URL(origin).host === host)) return false;
  const [, segment = "", ...more] = pathname.split("/");
  return more.every((part) => part === "") && classifyShortlink(segment) === "open";
}
