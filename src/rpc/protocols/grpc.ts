import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { DescMethod, DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import { type CallError, fail } from "../../lib/errors.ts";
import type { BodyHold } from "../../lib/limits/body-budget.ts";
import { acceptedEncodings, inflated } from "../../lib/limits/inflated.ts";
import { announcedLength, endStream } from "../../lib/limits/request-body.ts";
import { requestIdOf } from "../../lib/request-id.ts";
import type { AnswerHeaders, Outcome } from "../call.ts";
import { lastPart, type PartStream, streamOf } from "../part-streams.ts";
import { recordWriters, writeAnswer } from "../records.ts";
import { type Codec, checkEncoding, readMessage, writeMessage } from "./codec.ts";
import { frameHeadLength, frameOf, parseTimeout, unaryFrame } from "./grpc-frame.ts";
import { statusTrailers } from "./status.ts";
import { isUnary, pathOf, runUnary, single, type UnaryOptions } from "./unary.ts";

export interface GrpcOptions extends UnaryOptions {
  /** Services on the same port that the library's adapter answers: health, reflection. */
  readonly otherServices?: readonly DescService[];
  /** The client's IP address, after trusted proxies. */
  readonly clientAddress: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => string;
}

/**
 * Takes a stream if it is a gRPC call of a unary method, or of a stream that tells the parts of one; returns false for other
 * streams and protocols.
 */
export type GrpcStreams = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean;

const codecs: ReadonlyMap<string, Codec> = new Map([
  ["application/grpc", "proto"],
  ["application/grpc+proto", "proto"],
  ["application/grpc+json", "json"],
]);

/**
 * Answers unary gRPC calls straight from node:http2 streams, many times as fast as the library's adapter, which gets
 * the streaming calls. A path of no known method is answered here, with UNIMPLEMENTED.
 */
export function grpcStreams(options: GrpcOptions): GrpcStreams {
  const methods = new Map<string, Omit<Called, "codec"> | undefined>();
  for (const method of options.services.flatMap((service) => service.methods)) {
    methods.set(pathOf(method), isUnary(method) ? { method, parts: undefined } : calledBy(method));
  }
  for (const method of options.otherServices?.flatMap((service) => service.methods) ?? []) {
    methods.set(pathOf(method), undefined);
  }
  return (stream, headers) => {
    const codec = codecs.get(headers["content-type"] ?? "");
    if (codec === undefined || headers[":method"] !== "POST") return false;
    const path = headers[":path"] ?? "";
    const called = methods.get(path);
    if (called !== undefined) serve(stream, headers, { ...called, codec }, options);
    else if (methods.has(path)) return false;
    else {
      const requestId = requestIdOf(headers["x-request-id"], options.newRequestId);
      const error = fail("UNIMPLEMENTED", "UNIMPLEMENTED", "there is no such method");
      refuse(stream, headOf(requestId, codec, {}), error);
    }
    return true;
  };
}

interface Called {
  /** The method that handles the call. */
  readonly method: DescMethodUnary;
  /** How the answer is told in parts. Undefined when it comes whole. */
  readonly parts: PartStream | undefined;
  readonly codec: Codec;
}

function calledBy(method: DescMethod): Omit<Called, "codec"> | undefined {
  const parts = streamOf(method);
  return parts && { method: parts.unary, parts };
}

function serve(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  { method, parts, codec }: Called,
  options: GrpcOptions,
): void {
  const requestId = requestIdOf(headers["x-request-id"], options.newRequestId);
  const bytesMax = options.bytesMaxOf(method);
  const encoding = single(headers["grpc-encoding"]);
  const exchange = {
    method,
    requestId,
    body: stream,
    announced: announcedLength({ headers }),
    bodyBytesMax: bytesMax + frameHeadLength,
    prepare: () => {
      checkEncoding(encoding);
      return {
        protocol: "grpc" as const,
        resource: "API" as const,
        authorization: headers.authorization,
        idempotencyKey: single(headers["idempotency-key"]),
        testClock: single(headers["x-service-test-clock"]),
        target: `POST ${headers[":path"]}`,
        clientAddress: options.clientAddress(stream, headers),
        timeoutMs: parseTimeout(single(headers["grpc-timeout"])),
        writeRecord: recordWriters.proto,
        ...(parts && { tell: (part: Message) => tell(stream, requestId, { parts, codec }, part) }),
      };
    },
    unpack: (body: Buffer, hold: BodyHold) => {
      const { compressed, bytes } = unaryFrame(body);
      return compressed ? inflated(bytes, encoding, { bytesMax, hold }) : bytes;
    },
    decode: (bytes: Uint8Array) => readMessage(method, codec, bytes),
    answer: (outcome: Outcome) => answer(stream, requestId, { method, parts, codec }, outcome),
    onClose: (closed: () => void) => stream.on("close", closed),
    abandon: () => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
  };
  runUnary(exchange, options);
}

function answer(
  stream: ServerHttp2Stream,
  requestId: string,
  { method, parts, codec }: Called,
  outcome: Outcome,
): void {
  if (parts !== undefined && (outcome.ok || stream.headersSent)) {
    if (outcome.ok) tell(stream, requestId, { parts, codec }, lastPart(parts, outcome.message));
    const error = outcome.ok ? undefined : outcome.error;
    stream.on("wantTrailers", () => stream.sendTrailers(statusTrailers(error)));
    stream.end();
    return;
  }
  const head = headOf(requestId, codec, outcome.headers);
  if (!outcome.ok) {
    refuse(stream, head, outcome.error);
    return;
  }
  const message = frameOf(writeMessage(method, codec, outcome.message));
  stream.respond(head, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(statusTrailers(undefined)));
  stream.end(message);
}

/** Sends a part at once. The head goes before the first one. */
function tell(
  stream: ServerHttp2Stream,
  requestId: string,
  { parts, codec }: { readonly parts: PartStream; readonly codec: Codec },
  part: Message,
): void {
  if (stream.destroyed || stream.writableEnded) return;
  if (!stream.headersSent) stream.respond(headOf(requestId, codec, {}), { waitForTrailers: true });
  stream.write(frameOf(writeAnswer(codec, parts.method.output, part)));
}

function refuse(stream: ServerHttp2Stream, head: OutgoingHttpHeaders, error: CallError): void {
  const { retryAfterSeconds, headers } = error.refusal;
  const retry = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  stream.respond({ ...head, ...retry, ...headers, ...statusTrailers(error) }, { endStream: true });
  // Nobody needs the rest of a refused request.
  if (!stream.readableEnded) endStream(stream);
}

function headOf(requestId: string, codec: Codec, headers: AnswerHeaders): OutgoingHttpHeaders {
  return {
    ":status": 200,
    "content-type": `application/grpc+${codec}`,
    "grpc-accept-encoding": acceptedEncodings,
    "x-request-id": requestId,
    ...headers,
  };
}
