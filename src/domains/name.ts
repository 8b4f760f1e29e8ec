import { domainToASCII, domainToUnicode } from "node:url";

/** A name that can be a domain, in lower case and punycode, or what is wrong with the text, in words for the client. */
export type NameReading = { readonly name: string } | { readonly fault: string };

const nameLengthMax = 253;
const labelForm = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Letters of other scripts are turned into punycode. Of ASCII only what stands in names is taken. */
const textForm = /^[a-z0-9.\-\u0080-\u{10ffff}]+$/u;

/** Names that the public name servers never answer for (RFC 6761, 6762, 7686, 8375, 9476, and ICANN's `internal`). */
const specialNames = [
  ...["alt", "arpa", "example", "home.arpa", "internal", "invalid", "local", "localhost", "onion", "test"],
  // Never delegated, because so many private networks use them.
  ...["corp", "home", "lan", "localdomain", "mail"],
];

/**
 * Reads the name of a domain as somebody typed it, in any script. `ownHosts` are the service's hosts: they and all names
 * below them are refused.
 */
export async function readDomainName(text: string, ownHosts: Iterable<string>): Promise<NameReading> {
  const name = asciiOf(text.toLowerCase().replace(/\.$/, ""));
  if (name === undefined || !isName(name))
    return {
      fault:
        "must be a DNS name such as links.example.com: labels of letters, digits and hyphens, at most 63 each",
    };
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(name.slice(name.lastIndexOf(".") + 1)))
    return { fault: "must be a name, not an address" };
  const special = specialNames.find((each) => isBelow(name, each));
  if (special !== undefined) return { fault: `must be a public name: nobody can own names below ${special}` };
  for (const host of ownHosts)
    if (isBelow(name, host)) return { fault: `must be a name of your own: ${host} belongs to this service` };
  // The list of public suffixes is large, and only this needs it.
  const { getDomain } = await import("./public-suffixes.ts");
  if (getDomain(name, { allowPrivateDomains: true }) === null)
    return {
      fault: `must be a name of your own: ${name} is a public suffix, below which others have theirs`,
    };
  return { name };
}

function asciiOf(text: string): string | undefined {
  if (!textForm.test(text)) return undefined;
  const ascii = domainToASCII(text);
  // Punycode that says nothing stays as it is, and some has two spellings.
  const unicode = domainToUnicode(ascii);
  return !/(?:^|\.)xn--/.test(unicode) && domainToASCII(unicode) === ascii ? ascii : undefined;
}

function isName(name: string): boolean {
  const labels = name.split(".");
  return (
    name.length <= nameLengthMax &&
    labels.length > 1 &&
    labels.every((label) => labelForm.test(label) && (label.slice(2, 4) !== "--" || label.startsWith("xn--")))
  );
}

function isBelow(name: string, parent: string): boolean {
  return name === parent || name.endsWith(`.${parent}`);
}

/** A name as people read it: in its own script, with the name servers' spelling beside it when that differs. */
export function shownName(name: string): string {
  const unicode = domainToUnicode(name);
  return unicode === name || unicode === "" ? name : `${unicode} (${name})`;
}

/** How many names above a name are asked about. */
const parentsMax = 10;

/** The name and those above it, down to the one that somebody registered. */
export async function nameAndParents(name: string): Promise<readonly string[]> {
  const { getDomain } = await import("./public-suffixes.ts");
  const registered = getDomain(name) ?? name;
  const labels = name.split(".");
  const more = labels.length - registered.split(".").length;
  const names = labels.slice(0, more + 1).map((_, index) => labels.slice(index).join("."));
  return names.length <= parentsMax ? names : [name, ...names.slice(1 - parentsMax)];
}
