import type { VisitHeaders } from "./classify.ts";

/**
 * Why a browser asks, as it says itself: because somebody opens the link, in advance of that, for a picture of the page, or
 * for a part of another page, such as an image.
 */
export type AskedHow = "visit" | "prefetch" | "preview" | "embedded";

/**
 * Modes of `Sec-Fetch-Mode` in which a browser shows nothing of the answer as a page. Browsers send `Sec-Fetch-Dest` with
 * it, and the `fetch` of Node, which phone apps are made with as well, does not.
 */
const embedding: ReadonlySet<string> = new Set(["no-cors", "cors", "same-origin", "websocket"]);

/**
 * Says why a request is made; anything that says nothing is a visit. `Sec-Purpose` is the standard; the others are what
 * older Chrome, Safari and Firefox send, and apps of Facebook, which show what they fetched in advance.
 */
export function askedHow(headers: VisitHeaders): AskedHow {
  const { "sec-purpose": purpose, purpose: older, "x-moz": firefox, "x-purpose": safari } = headers;
  if (purpose !== undefined || older !== undefined || firefox !== undefined || safari !== undefined) {
    if ([purpose, older, firefox, safari].some((header) => says(header, "prefetch"))) return "prefetch";
    if (says(safari, "preview")) return headers["x-fb-http-engine"] === undefined ? "preview" : "prefetch";
  }
  return isEmbedded(headers) ? "embedded" : "visit";
}

function isEmbedded({ "sec-fetch-mode": mode, "sec-fetch-dest": destination }: VisitHeaders): boolean {
  return typeof mode === "string" && destination !== undefined && embedding.has(mode);
}

function says(header: string | string[] | undefined, word: string): boolean {
  return header !== undefined && String(header).toLowerCase().includes(word);
}

/** Headers that can make a class other than that of the user agent, which records keep where they do. */
const tellingNames = [
  "signature-agent",
  "sec-purpose",
  "purpose",
  "x-purpose",
  "x-moz",
  "x-fb-http-engine",
] as const;

/** Calls `keep` with each header that a class depends on. Browsers send some of them with each request, and say nothing by it. */
export function eachTelling(
  headers: VisitHeaders,
  keep: (name: string, value: string | string[]) => void,
): void {
  for (const name of tellingNames) {
    const value = headers[name];
    if (value !== undefined) keep(name, value);
  }
  if (isEmbedded(headers)) {
    keep("sec-fetch-mode", String(headers["sec-fetch-mode"]));
    keep("sec-fetch-dest", String(headers["sec-fetch-dest"]));
  }
  const brands = headers["sec-ch-ua"];
  if (brands !== undefined && isHeadless(brands)) keep("sec-ch-ua", brands);
}

/** Chrome without a window may take the user agent of one with a window; its brands still tell. */
export function isHeadless(brands: string | string[] | undefined): boolean {
  return brands !== undefined && String(brands).includes("HeadlessChrome");
}
