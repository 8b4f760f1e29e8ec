import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { constants, type Http2ServerRequest } from "node:http2";
import { fail } from "../lib/errors.ts";
import { acceptedEncodings, isReadable, tooLarge } from "../lib/inflated.ts";

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

/** How the body is compressed. */
export function contentCoding(req: RestRequest): string | undefined {
  return header(req, "content-encoding")?.trim().toLowerCase();
}

/**
 * Throws 415 unless the body is `application/json` in UTF-8 (a PATCH also takes `application/merge-patch+json`, which means
 * the same) in a content coding that can be read; with `anyType` only the coding counts.
 */
export function checkMediaType(req: RestRequest, anyType: boolean): void {
  if (!isReadable(contentCoding(req)))
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

/**
 * Reads the body's bytes. Throws 413 as soon as more than `max` bytes are announced or have come; what follows is left
 * unread. Returns undefined when the client went away.
 */
export async function readBody(req: RestRequest, max: number): Promise<Uint8Array | undefined> {
  if (Number(header(req, "content-length") ?? 0) > max) throw tooLarge(max);
  if (req.destroyed) return undefined;
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | undefined>();
  const chunks: Buffer[] = [];
  let length = 0;
  const onData = (chunk: Buffer) => {
    length += chunk.length;
    if (length <= max) chunks.push(chunk);
    else reject(tooLarge(max));
  };
  const onEnd = () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length));
  const onGone = () => resolve(undefined);
  req.on("data", onData).on("end", onEnd).on("close", onGone).on("error", onGone);
  try {
    return await promise;
  } finally {
    req.off("data", onData).off("end", onEnd).off("close", onGone);
  }
}

/**
 * Lets an answer reach a client that is still sending: up to `max` further bytes are read and dropped before the
 * connection (over HTTP/2: the stream) is cut, since closing at once could destroy the answer on its way.
 */
export function discardBody(req: RestRequest, max: number): void {
  if (req.readableEnded || req.destroyed) return;
  let length = 0;
  req.on("error", () => undefined);
  req.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= max) return;
    if ("stream" in req) req.stream.close(constants.NGHTTP2_NO_ERROR);
    else req.destroy();
  });
}

/** How long a client is listened to that sends a body nobody wants, in milliseconds. */
const lingerMs = 2_000;

/**
 * Waits until a client that will close its connection with the answer has sent its body, dropped here, up to `max` bytes:
 * to close while it sends would destroy the answer on its way. Over HTTP/2 and on connections that go on, nothing waits.
 */
export async function lingerBeforeClose(req: RestRequest, max: number): Promise<void> {
  const closes = req.httpVersion === "1.0" || header(req, "connection")?.toLowerCase() === "close";
  if ("stream" in req || !closes || req.readableEnded || req.destroyed || !announcesBody(req)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let length = 0;
  const onData = (chunk: Buffer) => {
    length += chunk.length;
    if (length > max) resolve();
  };
  const done = () => resolve();
  const timer = setTimeout(done, lingerMs);
  req.on("data", onData).on("end", done).on("close", done).on("error", done);
  await promise;
  clearTimeout(timer);
  req.off("data", onData).off("end", done).off("close", done);
}

/** Parses a body as JSON. Throws 400 when it is not UTF-8 (or begins with a byte order mark) or not JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", "the request body is not UTF-8");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", "the request body is not valid JSON", {
      cause: error,
    });
  }
}
