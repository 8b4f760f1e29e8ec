import type { ServerResponse } from "node:http";
import { isLoopback } from "../lib/hosts.ts";

/**
 * Whether a page of this origin may call. Programs send no origin. A page that came over http may have been changed on its
 * way, unless it came from the person's own machine. A page cannot pretend to be of our host, as requests for other hosts
 * never come here.
 */
export function isTrustedOrigin(origin: string | undefined): boolean {
  if (origin === undefined) return true;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  return url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
}

const requestHeaders = [
  "Accept",
  "Authorization",
  "Content-Type",
  "Last-Event-ID",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
  "Mcp-Session-Id",
  "X-Request-Id",
].join(", ");

const exposedHeaders =
  "X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, Idempotent-Replayed, WWW-Authenticate";

/** The headers that let a page read the answer. No cookie counts here, so a foreign page gains no rights. */
const forPages: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": exposedHeaders,
};

const none: Readonly<Record<string, string>> = {};

/** The headers of an answer for a page; programs, which name no origin, get none. */
export function originHeaders(origin: string | undefined): Readonly<Record<string, string>> {
  return origin === undefined ? none : forPages;
}

/** Answers a browser that asks, on behalf of a page, what the page may send. */
export function answerPreflight(res: ServerResponse): void {
  res.writeHead(204, {
    ...forPages,
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": requestHeaders,
    "access-control-max-age": "7200",
  });
  res.end();
}
