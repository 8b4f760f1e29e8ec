import type { IncomingMessage } from "node:http";
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from "node:http2";
import { type CallError, fail } from "../errors.ts";
import type { BodyHold } from "./body-budget.ts";

/** A request over HTTP/1.1 or HTTP/2, or the stream of one. */
export type BodySource = IncomingMessage | Http2ServerRequest | ServerHttp2Stream;

export interface BodyTerms {
  readonly bytesMax: number;
  /** The value of `Content-Length`. */
  readonly announced: number;
  readonly hold: BodyHold;
  readonly tooLarge: (bytesMax: number) => CallError;
}

/**
 * Receives a body. Before this call nothing is read from the client and its connection waits. Rejects with a
 * `CallError` as soon as the announced or received bytes exceed the limit, when there is no room for them, or when the
 * client goes away.
 */
export async function receiveBody(source: BodySource, terms: BodyTerms): Promise<Buffer> {
  const { bytesMax, announced, hold, tooLarge } = terms;
  const refusal = announced > bytesMax ? tooLarge(bytesMax) : hold.take(announced);
  if (refusal !== undefined) throw refusal;
  if (source.destroyed) throw gone();
  // Over HTTP/2 an empty body ends by itself, and tells nobody who asks later.
  if (source.readableEnded) return nothing;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // One growing buffer: a list of pieces costs a hundred times their bytes when each piece is a single byte.
  let body: Buffer = nothing;
  let length = 0;
  let held = announced;
  const onData = (chunk: Buffer) => {
    const start = length;
    length += chunk.length;
    const wrong =
      length > bytesMax ? tooLarge(bytesMax) : length > held ? hold.take(length - held) : undefined;
    if (wrong !== undefined) return reject(wrong);
    held = Math.max(held, length);
    if (start === 0) body = chunk;
    else {
      if (length > body.length) body = grown(body, start, Math.max(length, announced), bytesMax);
      body.set(chunk, start);
    }
  };
  const onEnd = () => resolve(body.subarray(0, length));
  const onGone = () => reject(gone());
  source.on("data", onData).on("end", onEnd).on("close", onGone).on("error", onGone);
  try {
    return await promise;
  } finally {
    source.off("data", onData).off("end", onEnd).off("close", onGone);
  }
}

const nothing = Buffer.alloc(0);

function grown(body: Buffer, length: number, needed: number, bytesMax: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(needed, Math.min(2 * length, bytesMax)));
  larger.set(body.subarray(0, length));
  return larger;
}

function gone(): CallError {
  return fail("CANCELLED", "CANCELLED", "the client has gone");
}

/** The length that the headers announce; 0 when they announce none. */
export function announcedLength({ headers }: Pick<IncomingMessage, "headers">): number {
  return Number(headers["content-length"] ?? 0);
}

/** Whether the client waits for `100 Continue` before it sends its body. */
export function expectsContinue({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return headers.expect?.toLowerCase() === "100-continue";
}

/** How many bytes of a refused caller's body are read and dropped, so that the answer arrives. */
export const dropMax = 512 * 1024;

/**
 * Lets an answer reach a client that is still sending: it reads and drops up to `max` further bytes before it cuts the
 * connection, because closing at once could destroy the answer on its way. Over HTTP/2 only the stream ends.
 */
export function discardBody(req: IncomingMessage | Http2ServerRequest, max: number): void {
  if (req.readableEnded || req.destroyed) return;
  if ("stream" in req) {
    endStream(req.stream);
    return;
  }
  let length = 0;
  req.on("error", () => undefined);
  req.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > max) req.destroy();
  });
}

/** Tells the client of an answered stream to stop sending, unless the request has ended by itself. */
export function endStream(stream: ServerHttp2Stream): void {
  stream.resume();
  setImmediate(() => {
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
  });
}

/** How long the server keeps reading an unwanted body before it answers, in milliseconds. */
const lingerMs = 2_000;

/**
 * Reads and drops up to `max` bytes of a client's body before the answer, when the connection closes with the answer:
 * closing it while the client sends would destroy the answer on its way. Over HTTP/2 and on connections that stay open
 * it does not wait.
 */
export async function lingerBeforeClose(
  req: IncomingMessage | Http2ServerRequest,
  max: number,
): Promise<void> {
  if ("stream" in req || !willClose(req) || req.readableEnded || req.destroyed || expectsContinue(req))
    return;
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

function willClose({ httpVersion, headers }: IncomingMessage): boolean {
  if (httpVersion !== "1.0" && headers.connection?.toLowerCase() !== "close") return false;
  return headers["transfer-encoding"] !== undefined || announcedLength({ headers }) > 0;
}
