import { domainToUnicode } from "node:url";
import { classifyShortlink } from "./shortlink.ts";

/** How many characters a destination has at most. */
export const destinationLengthMax = 2_048;

/**
 * Schemes that no visitor is sent to, grouped by what they do on the visitor's device. Any other scheme may be an
 * app's, so the list holds what a person who taps a link must never be asked to confirm.
 */
const refusedSchemes: ReadonlySet<string> = new Set([
  // They run what the address itself holds, or show it as a page.
  ...["javascript", "vbscript", "livescript", "mocha", "data", "blob", "filesystem", "about", "applescript"],
  // They hold another address, which nobody has checked: a block list would see only the outer one.
  ...[
    "view-source",
    "jar",
    "feed",
    "wyciwyg",
    "microsoft-edge",
    "googlechrome",
    "googlechromes",
    "intent",
    "android-app",
  ],
  // They read the device, or pages that belong to the browser and its extensions.
  ...[
    "file",
    "res",
    "resource",
    "content",
    "chrome",
    "chrome-extension",
    "chrome-search",
    "chrome-untrusted",
  ],
  ...[
    "devtools",
    "edge",
    "brave",
    "opera",
    "vivaldi",
    "moz-extension",
    "safari-web-extension",
    "mhtml",
    "mk",
    "its",
  ],
  // They start parts of the system that take orders: troubleshooters, search, help, settings, installers, terminals.
  ...["search", "shell", "hcp", "help", "prefs", "app-prefs", "x-apple.systempreferences", "itms-services"],
  ...["telnet", "tn3270", "rlogin", "ssh", "rdp", "vnc"],
  // They send the device's credentials to a server, or speak a protocol that browsers have no page for.
  ...["smb", "cifs", "nfs", "afp", "dav", "davs", "webdav", "webdavs", "ldap", "ldaps"],
  ...["ftp", "ftps", "sftp", "tftp", "gopher", "dict", "ws", "wss"],
]);

/**
 * Windows starts parts of itself and of Office by these (`ms-msdt:`, `ms-officecmd:`). Only its store is a place to
 * visit.
 */
const systemScheme = /^(?:ms-(?!windows-store$)|search-ms$)/;

function isRefused(scheme: string): boolean {
  return refusedSchemes.has(scheme) || systemScheme.test(scheme);
}

/** RFC 3986, section 3.1. */
const schemeForm = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s;

/**
 * What is wrong with a destination, in words for the client. Undefined when it is good. Good destinations are web
 * addresses with a host, and mailto, tel, sms, geo and app schemes. The text is never changed: it is stored and sent as
 * it came.
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
  if (isRefused(scheme.toLowerCase())) return `must not have the scheme ${scheme.toLowerCase()}`;
  if (isWeb(scheme)) return webFault(text, rest);
  return rest.trim() === "" ? `must have something after ${scheme.toLowerCase()}:` : undefined;
}

function isWeb(scheme: string): boolean {
  return /^https?$/i.test(scheme);
}

// `example.com:8080/menu` reads as a URL of the scheme `example.com`, but is a host with a port.
function isHostAndPort(scheme: string, rest: string): boolean {
  return (scheme.includes(".") || scheme.toLowerCase() === "localhost") && /^\d{1,5}(?:[/?#]|$)/.test(rest);
}

function webFault(text: string, rest: string): string | undefined {
  const [address = ""] = rest.split(/[?#]/, 1);
  // Readers of URLs disagree on backslashes and on missing slashes: one would check another host than a browser visits.
  if (!/^\/\/[^/]/.test(address) || address.includes("\\"))
    return "must have a host after //, such as https://example.com";
  return URL.canParse(text) ? undefined : "is not a readable web address";
}

/** The host of a good web address as the block list has it, in lower case and punycode. Undefined for other schemes. */
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

/** A name for a good destination: its host, or what follows the scheme. At most 255 characters. */
export function destinationName(destination: string): string {
  const host = hostOf(destination);
  if (host !== undefined) return domainToUnicode(host) || host;
  const [, scheme = "", rest = ""] = schemeForm.exec(destination) ?? [];
  const [name = ""] = rest.replace(/^\/+/, "").split(/[?#]/, 1);
  return [...(name.trim() || scheme)].slice(0, 255).join("");
}

/**
 * Whether a good destination is itself a short link on one of the given origins (`https://go.example`). Such links can
 * lead to each other in a circle. Other pages of these origins are fine.
 */
export function isShortlinkOf(origins: readonly string[], destination: string): boolean {
  if (hostOf(destination) === undefined) return false;
  const { pathname } = new URL(destination);
  const host = placeOf(destination);
  if (!origins.some((origin) => placeOf(origin) === host)) return false;
  const [, segment = "", ...more] = pathname.split("/");
  return more.every((part) => part === "") && classifyShortlink(segment) === "open";
}

/** Host and port in one spelling: without a final dot, and without a port that the scheme implies. */
function placeOf(url: string): string {
  const { hostname, port } = new URL(url);
  const name = hostname.replace(/\.$/, "");
  return port === "" || port === "80" || port === "443" ? name : `${name}:${port}`;
}
