import type { ServerResponse } from "node:http";
import { visitorLanguage } from "../../hosted/languages.ts";
import { type Look, type Notice, notice } from "../../hosted/notice.ts";
import type { HostedPage } from "../../pages/page.ts";
import type { CardFile } from "./vcard.ts";

/** What every answer to one request has in common. */
export interface Envelope {
  /** HEAD: the same headers, and no body. */
  readonly isHead: boolean;
  /** The device cookie to set; empty for none. */
  readonly cookie: string;
  /** The link belongs to a sandbox. */
  readonly isSandbox: boolean;
  /** The visit whose page is shown at the address of the link itself; absent for any other answer. */
  readonly openVisit?: (OpenVisit & { readonly shortlink: string }) | undefined;
}

/** The envelope of an answer that belongs to no visit and no link. */
export const plain: Envelope = Object.freeze({ isHead: false, cookie: "", isSandbox: false });

/** The device cookie is a random UUID. Any other value counts as no cookie. */
const cookieForm = /(?:^|;\s*)svc_did=([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:;|$)/;

/** A visit that a browser has open, and the seal that tells where it stands. */
export interface OpenVisit {
  readonly lbid: string;
  readonly sealed: string;
}

const openVisitForm = /(?:^|;\s*)svc_visit=([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{1,1024})(?:;|$)/;

/** How long a browser keeps the cookie of an open visit, in seconds. Without its visitor, a visit is over by then. */
const openVisitAge = 30 * 60;

/** The visit that the browser has open at this link; undefined when there is none. */
export function openVisitCookie(header: string | undefined): OpenVisit | undefined {
  // Few requests have this cookie, and looking for its name is cheaper than the expression.
  if (header?.includes("svc_visit=") !== true) return undefined;
  const [, lbid, sealed] = openVisitForm.exec(header) ?? [];
  return lbid === undefined || sealed === undefined ? undefined : { lbid, sealed };
}

/** Thirteen months in seconds; browsers cut at 400 days. */
const cookieAge = 395 * 24 * 60 * 60;

/** The device cookie that came with a request; empty when there is none. */
export function deviceCookie(header: string | undefined): string {
  return header === undefined ? "" : (cookieForm.exec(header)?.[1] ?? "");
}

/** Sends a visitor on. Never cached, because every visit counts and a link can change. */
export function redirect(res: ServerResponse, to: string, envelope: Envelope): void {
  sendOn(res, 302, to, envelope);
}

/** Sends a visitor to another page of ours, by GET; `to` is a path. */
export function seeOther(res: ServerResponse, to: string, envelope: Envelope): void {
  sendOn(res, 303, to, envelope);
}

function sendOn(res: ServerResponse, status: 302 | 303, to: string, { cookie, isSandbox }: Envelope): void {
  const headers = [
    "Location",
    to,
    "Cache-Control",
    "private, no-store",
    "Referrer-Policy",
    "strict-origin-when-cross-origin",
    "X-Robots-Tag",
    "noindex",
    "Content-Length",
    "0",
  ];
  addEnvelope(headers, cookie, isSandbox);
  res.writeHead(status, headers);
  res.end();
}

/** Tells a browser that asks in advance to ask again when somebody opens the link. It shows this to nobody. */
export function refuseForNow(res: ServerResponse, { isSandbox }: Envelope): void {
  const headers = ["Cache-Control", "private, no-store", "X-Robots-Tag", "noindex", "Content-Length", "0"];
  addEnvelope(headers, "", isSandbox);
  res.writeHead(503, headers);
  res.end();
}

/** Sends a contact card for the visitor's address book. */
export function sendCard(
  res: ServerResponse,
  { body, headers: own }: CardFile,
  { isHead, cookie, isSandbox }: Envelope,
): void {
  const headers = [
    ...own,
    "Content-Length",
    String(body.length),
    "Cache-Control",
    "private, no-store",
    "X-Content-Type-Options",
    "nosniff",
    "X-Robots-Tag",
    "noindex",
  ];
  addEnvelope(headers, cookie, isSandbox);
  res.writeHead(200, headers);
  res.end(isHead ? undefined : body);
}

/** Shows a page; `more` is a flat list of further header names and values. */
export function show(
  res: ServerResponse,
  page: HostedPage,
  envelope: Envelope,
  more: readonly string[] = [],
): void {
  const { isHead, cookie, isSandbox, openVisit } = envelope;
  const headers = [
    "Content-Type",
    "text/html; charset=utf-8",
    "Content-Length",
    String(page.body.length),
    "Cache-Control",
    "private, no-store",
    "Referrer-Policy",
    "strict-origin-when-cross-origin",
    "X-Content-Type-Options",
    "nosniff",
    "X-Robots-Tag",
    "noindex",
    ...page.headers,
    ...more,
  ];
  addEnvelope(headers, cookie, isSandbox);
  if (openVisit !== undefined && cookie !== "") {
    const { shortlink, lbid, sealed } = openVisit;
    const about = `Max-Age=${openVisitAge}; Path=/${shortlink}; HttpOnly; Secure; SameSite=Lax`;
    headers.push("Set-Cookie", `svc_visit=${lbid}.${sealed}; ${about}`);
  }
  res.writeHead(page.status, headers);
  res.end(isHead ? undefined : page.body);
}

export interface NoticeOptions {
  /** Further header names and values in turn. */
  readonly headers?: readonly string[];
  /** The look of the link that was asked for. */
  readonly look?: Look | undefined;
}

/** Says what is the matter, in the visitor's language. */
export function showNotice(
  res: ServerResponse,
  kind: Notice,
  envelope: Envelope,
  { headers, look }: NoticeOptions = {},
): void {
  show(res, notice(kind, visitorLanguage(res.req.headers["accept-language"]), look), envelope, headers);
}

/**
 * Answers `/robots.txt`. It lets crawlers in, because otherwise they would never see the header that forbids indexing.
 */
export function robots(res: ServerResponse, { isHead }: Envelope): void {
  const text = "User-agent: *\nDisallow:\n";
  res.writeHead(200, [
    "Content-Type",
    "text/plain; charset=utf-8",
    "Content-Length",
    String(text.length),
    "Cache-Control",
    "public, max-age=86400",
    "X-Content-Type-Options",
    "nosniff",
  ]);
  res.end(isHead ? undefined : text);
}

/** Sends a script of ours, at an address that changes with it. */
export function script(res: ServerResponse, bytes: Buffer, { isHead }: Envelope): void {
  res.writeHead(200, [
    "Content-Type",
    "text/javascript; charset=utf-8",
    "Content-Length",
    String(bytes.length),
    "Cache-Control",
    "public, max-age=31536000, immutable",
    "X-Content-Type-Options",
    "nosniff",
  ]);
  res.end(isHead ? undefined : bytes);
}

/** Answers `/favicon.ico`: there is no icon, and browsers do not ask again for a day. */
export function noIcon(res: ServerResponse): void {
  res.writeHead(204, ["Cache-Control", "public, max-age=86400"]);
  res.end();
}

/** What every answer about a link has beside its own headers. */
export function addEnvelope(headers: string[], cookie: string, isSandbox: boolean): void {
  if (cookie !== "") {
    headers.push(
      "Set-Cookie",
      `svc_did=${cookie}; Max-Age=${cookieAge}; Path=/; HttpOnly; Secure; SameSite=Lax`,
    );
  }
  if (isSandbox) headers.push("X-Service-Sandbox", "true");
}
