import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { type CallError, fail } from "../lib/errors.ts";

/** A request over HTTP/1.1 or HTTP/2. */
export type RestRequest = IncomingMessage | Http2ServerRequest;

/** The limit of a request body where no method says otherwise: 8 MiB (behaviour 1.6). */
export const bodyBytesMax = 8 * 1024 * 1024;

/** A header's first value. */
export function header(req: RestRequest, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Whether a body follows the headers, as far as they tell. */
export function announcesBody(req: RestRequest): boolean {
  const length = header(req, "content-length");
  if (length !== undefined) return length !== "0";
  if ("stream" in req) return !req.stream.endAfterHeaders;
  return req.headers["transfer-encoding"] !== undefined;
}

/** Throws 415 unless the body is `application/json` in UTF-8 without content coding; with `anyType` only the coding counts. */
export function checkMediaType(req: RestRequest, anyType: boolean): void {
  const coding = header(req, "content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity" && coding !== "") {
    throw unsupportedMediaType("content-encoding must be identity: send the body uncompressed");
  }
  if (anyType) return;
  const [type = "", ...parameters] = (header(req, "content-type") ?? "").toLowerCase().split(";");
  if (type.trim() !== "application/json") throw unsupportedMediaType("content-type must be application/json");
  for (const parameter of parameters) {
    const [name, value = ""] = parameter.split("=");
    if (name?.trim() === "charset" && value.trim().replaceAll('"', "") !== "utf-8") {
      throw unsupportedMediaType("charset must be utf-8");
    }
  }
}

function unsupportedMediaType(message: string) {
  return fail("INVALID_ARGUMENT", "UNSUPPORTED_MEDIA_TYPE", message, { httpStatus: 415 });
}

/** 413: more bytes are announced or have come than the method takes. */
export function tooLarge(max: number): CallError {
  const message = `the request body is over the limit of ${max} bytes`;
  return fail("INVALID_ARGUMENT", "REQUEST_TOO_LARGE", message, { httpStatus: 413 });
}
