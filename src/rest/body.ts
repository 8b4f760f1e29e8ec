import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { fail } from "../lib/errors.ts";
import { acceptedEncodings, isKnownEncoding } from "../lib/limits/inflated.ts";

/** A request over HTTP/1.1 or HTTP/2. */
export type RestRequest = IncomingMessage | Http2ServerRequest;

/** A header's first value. */
export function header(req: RestRequest, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Whether the headers announce a body. */
export function announcesBody(req: RestRequest): boolean {
  const length = header(req, "content-length");
  if (length !== undefined) return length !== "0";
  if ("stream" in req) return !req.stream.endAfterHeaders;
  return req.headers["transfer-encoding"] !== undefined;
}

/** The value of `Content-Encoding`. */
export function contentCoding(req: RestRequest): string | undefined {
  return header(req, "content-encoding")?.trim().toLowerCase();
}

/**
 * Throws 415 unless the body is `application/json` in UTF-8, in a content coding that can be read. A PATCH also takes
 * `application/merge-patch+json`, which means the same. With `anyType` only the coding is checked.
 */
export function checkMediaType(req: RestRequest, anyType: boolean): void {
  if (!isKnownEncoding(contentCoding(req)))
    throw unsupportedMediaType(`content-encoding must be one of ${acceptedEncodings}`, {
      "accept-encoding": acceptedEncodings,
    });
  if (anyType) return;
  const [type = "", ...parameters] = (header(req, "content-type") ?? "").toLowerCase().split(";");
  const isPatch = req.method === "PATCH" && type.trim() === "application/merge-patch+json";
  if (type.trim() !== "application/json" && !isPatch)
    throw unsupportedMediaType("content-type must be application/json");
  for (const parameter of parameters) {
    const [name, value = ""] = parameter.split("=");
    if (name?.trim() === "charset" && value.trim().replaceAll('"', "") !== "utf-8") {
      throw unsupportedMediaType("charset must be utf-8");
    }
  }
}

function unsupportedMediaType(message: string, headers: Record<string, string> = {}) {
  return fail("INVALID_ARGUMENT", "UNSUPPORTED_MEDIA_TYPE", message, { httpStatus: 415, headers });
}
