import type { VisitHeaders } from "./classify.ts";
import { eachHint } from "./client-hints.ts";

/**
 * Why a browser sends a request, as its headers say: somebody opens the link ("visit"), the browser asks in advance
 * ("prefetch"), wants a picture of the page ("preview"), or a part of another page, such as an image ("embedded").
 */
export type AskedHow = "visit" | "prefetch" | "preview" | "embedded";

/**
 * Values of `Sec-Fetch-Mode` with which a browser does not show the answer as a page. Browsers send `Sec-Fetch-Dest`
 * beside it. The `fetch` of Node, with which phone apps are made as well, sends the mode alone.
 */
const embedding: ReadonlySet<string> = new Set(["no-cors", "cors", "same-origin", "websocket"]);

/**
 * Says why a request is made. A request that gives no reason is a visit. `Sec-Purpose` is the standard header; older
 * Chrome, Safari and Firefox send the others. Apps of Facebook send `X-Purpose: preview` for a page that they fetch in
 * advance.
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

/** Headers that can change the class that the user agent alone gives. Records keep these headers. */
const tellingNames = [
  "signature-agent",
  "sec-purpose",
  "purpose",
  "x-purpose",
  "x-moz",
  "x-fb-http-engine",
] as const;

/**
 * Calls `keep` with each header that a class depends on. Browsers send some headers with ordinary values; these are
 * left out.
 */
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
  else eachHint(headers, keep);
}

/** Whether a Chrome has no window. Its user agent may be that of a Chrome with a window, but its brands tell. */
export function isHeadless(brands: string | string[] | undefined): boolean {
  return brands !== undefined && String(brands).includes("HeadlessChrome");
}
