import { domainToASCII } from "node:url";

/** A destination that is taken apart once, so that sending a visitor there only joins strings. */
export interface RedirectTarget {
  /** The address with nothing added, in visible ASCII, otherwise as it was saved. */
  readonly url: string;
  /** False for mailto, tel, sms, geo and app schemes. Nothing is ever added to those. */
  readonly isWeb: boolean;
  /** The address without its fragment. */
  readonly head: string;
  /** What stands between the head and the first added parameter. */
  readonly joint: "" | "?" | "&";
  /** The fragment with its `#`, or empty. */
  readonly fragment: string;
  /**
   * What stands before and after the place for the visit's id in a form of Google's: a hidden question that the address
   * answers with `{{lbid}}`. Undefined for all other addresses.
   */
  readonly prefill: readonly [before: string, after: string] | undefined;
  /** The names of its query parameters, decoded. A visitor's parameter of the same name is left out. */
  readonly names: ReadonlySet<string>;
}

/** The query parameter that carries the id of a visit. */
export const lbidParameter = "lbid";

/** The bare query parameter in QR codes, which tells a scan from a click. */
export const scanMarker = "qr";

/** Takes a saved destination apart. */
export function parseTarget(destination: string): RedirectTarget {
  const url = inAscii(destination);
  const hash = url.indexOf("#");
  const head = hash < 0 ? url : url.slice(0, hash);
  const question = head.indexOf("?");
  const query = question < 0 ? "" : head.slice(question + 1);
  const endsOpen = question >= 0 && (query === "" || query.endsWith("&"));
  return {
    url,
    isWeb: /^https?:/i.test(url),
    head,
    joint: question < 0 ? "?" : endsOpen ? "" : "&",
    fragment: hash < 0 ? "" : url.slice(hash),
    prefill: prefillOf(head),
    names: new Set(parametersOf(query).map(nameOf)),
  };
}

const formForm = /^https?:\/\/docs\.google\.com\/(?:a\/[^/?]*\/)?forms\//i;
const placeForm = /[?&]entry\.\d{1,20}=(?:\{\{lbid\}\}|%7B%7Blbid%7D%7D)(?=&|$)/i;

/** Google's own addresses for prefilled forms have the braces escaped. */
function prefillOf(head: string): RedirectTarget["prefill"] {
  const found = formForm.test(head) ? placeForm.exec(head) : null;
  if (found === null) return undefined;
  const begin = found.index + found[0].indexOf("=") + 1;
  return [head.slice(0, begin), head.slice(found.index + found[0].length)];
}

/**
 * The address to send a visitor to: the destination's own query, then the visitor's parameters, then `lbid` unless it
 * is empty, then the fragment. A form of Google's has the id in its place, too. The visitor's parameters are left out where the service or the destination uses the
 * name.
 */
export function targetUrl(target: RedirectTarget, visitorQuery: string, lbid: string): string {
  if (!target.isWeb) return target.url;
  const carried = visitorQuery === "" || visitorQuery === scanMarker ? "" : carriedOn(visitorQuery, target);
  const own = lbid === "" ? "" : `${lbidParameter}=${lbid}`;
  const { prefill } = target;
  const head = prefill === undefined ? target.head : prefill[0] + lbid + prefill[1];
  if (carried === "" && own === "") return prefill === undefined ? target.url : head + target.fragment;
  const separator = carried === "" || own === "" ? "" : "&";
  return head + target.joint + carried + separator + own + target.fragment;
}

/** True when the query has the scan marker, bare or with an empty value. */
export function hasScanMarker(query: string): boolean {
  return query === scanMarker || (query.includes(scanMarker) && parametersOf(query).some(isMarker));
}

function carriedOn(query: string, { names }: RedirectTarget): string {
  return parametersOf(query)
    .filter((parameter) => {
      const name = nameOf(parameter);
      return !isMarker(parameter) && name !== lbidParameter && !names.has(name);
    })
    .map(escapeBytes)
    .join("&");
}

function parametersOf(query: string): string[] {
  return query.split("&").filter((parameter) => parameter !== "");
}

function isMarker(parameter: string): boolean {
  return parameter === scanMarker || parameter === `${scanMarker}=`;
}

function nameOf(parameter: string): string {
  const [name = ""] = parameter.split("=", 1);
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    return name;
  }
}

// Node reads request targets byte by byte, so each character here stands for a byte that a URL must not hold.
function escapeBytes(text: string): string {
  return text.replace(
    /[^\x21-\x7e]/g,
    (byte) => `%${(byte.charCodeAt(0) & 255).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}

// Header fields are ASCII. Characters that are ASCII already stay as they are, escaped or not.
function inAscii(destination: string): string {
  if (/^[\x21-\x7e]*$/.test(destination)) return destination;
  const text = destination.toWellFormed();
  const [front = "", scheme = "", account = "", host = ""] =
    /^(https?:\/\/)([^/?#]*@)?([^/?#:@]*)/i.exec(text) ?? [];
  const rest = text.slice(front.length);
  return scheme + escapeText(account) + (domainToASCII(host) || escapeText(host)) + escapeText(rest);
}

function escapeText(text: string): string {
  return text.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}
