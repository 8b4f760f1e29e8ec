import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { CallError } from "../lib/errors.ts";
import { etagOf, matchesEtag, pictureHeaders } from "../lib/etag.ts";
import type { AnswerHeaders } from "../rpc/call.ts";
import type { Payload } from "./encode.ts";
import { errorBody, httpStatusOf } from "./error-body.ts";

/** A response over HTTP/1.1 or HTTP/2. */
export type RestResponse = ServerResponse | Http2ServerResponse;

/** Writes a successful answer; `headers` override the headers of every answer. */
export function respond(
  res: RestResponse,
  status: number,
  payload: Payload,
  requestId: string,
  headers: AnswerHeaders,
): void {
  const { body, contentType } = payload;
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
  write(res, status, body, {
    "content-type": contentType,
    "content-length": String(length),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
    ...headers,
  });
}

/**
 * How a browser treats a page of an answer, whose own policy says more. It runs no script and sends no form, and no search
 * engine keeps it.
 */
const pageHeaders = {
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
  "referrer-policy": "no-referrer",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'; font-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
} as const;

/** Writes a file with its tag, or 304 to a client that has it. */
export function respondFile(
  res: RestResponse,
  payload: Payload,
  ifNoneMatch: string | undefined,
  { requestId, headers }: { readonly requestId: string; readonly headers: AnswerHeaders },
): void {
  const body = Buffer.from(payload.body);
  const etag = etagOf(body);
  const told = {
    "cache-control": "no-store",
    "x-request-id": requestId,
    ...(payload.contentType.startsWith("text/html") ? pageHeaders : pictureHeaders),
    etag,
    ...headers,
  };
  if (matchesEtag(ifNoneMatch, etag)) write(res, 304, "", told);
  else
    write(res, 200, body, {
      "content-type": payload.contentType,
      "content-length": String(body.byteLength),
      ...told,
    });
}

/** Writes an error as `errorBody` does, with `Retry-After` and the other headers of the refusal. */
export function respondError(
  res: RestResponse,
  error: CallError,
  requestId: string,
  headers: AnswerHeaders,
): void {
  const { refusal } = error;
  const retry = refusal.retryAfterSeconds;
  respond(res, httpStatusOf(error), { contentType: "application/json", body: errorBody(error) }, requestId, {
    ...(retry === undefined ? {} : { "retry-after": String(retry) }),
    ...headers,
    ...refusal.headers,
  });
}

function write(
  res: RestResponse,
  status: number,
  body: string | Uint8Array,
  headers: Record<string, string>,
): void {
  // Node omits the body of an answer to HEAD. The two types of `res` have no common signature of writeHead.
  if ("stream" in res) res.writeHead(status, headers);
  else res.writeHead(status, headers);
  res.end(body);
}
