import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { type DescMethodUnary, toBinary } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { type CallError, type Code, fail } from "../../lib/errors.ts";
import type { BodyHold } from "../../lib/limits/body-budget.ts";
import { inflated, isCompressed, tooLarge } from "../../lib/limits/inflated.ts";
import {
  announcedLength,
  discardBody,
  dropMax,
  expectsContinue,
  lingerBeforeClose,
} from "../../lib/limits/request-body.ts";
import type { Outcome } from "../call.ts";
import { recordWriters } from "../records.ts";
import { type Codec, checkEncoding, readMessage, writeMessage } from "./codec.ts";
import { frameHeadLength, frameOf, parseTimeout, trailersFlag, unaryFrame } from "./grpc-frame.ts";
import { detailMessages, statusTrailers } from "./status.ts";
import { isUnary, pathOf, runUnary, single, type UnaryOptions } from "./unary.ts";

export interface WebOptions extends UnaryOptions {
  /** The client's IP address, after trusted proxies. */
  readonly clientAddress: (req: IncomingMessage | Http2ServerRequest) => string;
}

/** Takes a request if it is a unary call of Connect or gRPC-Web; returns whether it did. */
export type WebCalls = (req: IncomingMessage, res: ServerResponse, requestId: string) => boolean;

type Protocol = "connect" | "grpc-web";

interface Wire {
  readonly protocol: Protocol;
  readonly codec: Codec;
}

const wires: ReadonlyMap<string, Wire> = new Map([
  ["application/json", { protocol: "connect", codec: "json" }],
  ["application/proto", { protocol: "connect", codec: "proto" }],
  ["application/grpc-web", { protocol: "grpc-web", codec: "proto" }],
  ["application/grpc-web+proto", { protocol: "grpc-web", codec: "proto" }],
  ["application/grpc-web+json", { protocol: "grpc-web", codec: "json" }],
]);

// https://connectrpc.com/docs/protocol#error-codes
const connectStatuses: Readonly<Record<Code, number>> = {
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DATA_LOSS: 500,
  UNAUTHENTICATED: 401,
};

/** Where the message of a request stands, and how it is encoded. */
interface WebReading {
  readonly wire: Wire;
  readonly encoding: string | undefined;
  readonly timeoutMs: () => number | undefined;
  /** The message of a GET, which has no body. */
  readonly inline?: Buffer;
}

/**
 * Answers the unary calls of Connect and gRPC-Web over both HTTP versions, like `grpcStreams`: a message is parsed only
 * once the pipeline asks for it, and malformed bytes are the client's fault.
 */
export function webCalls(options: WebOptions): WebCalls {
  const unary = options.services.flatMap((service) => service.methods).filter(isUnary);
  const methods = new Map(unary.map((method) => [pathOf(method), method]));
  return (req, res, requestId) => {
    const [path = "", query = ""] = (req.url ?? "").split("?", 2);
    const method = methods.get(path);
    if (method === undefined) return false;
    const reading = readingOf(req, method, query);
    if (reading !== undefined) serve(req, res, requestId, method, reading, options);
    else refuseForm(req, res, method);
    return true;
  };
}

function readingOf(req: IncomingMessage, method: DescMethodUnary, query: string): WebReading | undefined {
  const { headers } = req;
  const connectTimeout = () => parseConnectTimeout(single(headers["connect-timeout-ms"]));
  if (req.method === "GET" && method.idempotency === Idempotency.NO_SIDE_EFFECTS) {
    const parameters = new URLSearchParams(query);
    const codec = parameters.get("encoding");
    const message = parameters.get("message");
    if ((codec !== "json" && codec !== "proto") || message === null) return undefined;
    return {
      wire: { protocol: "connect", codec },
      encoding: parameters.get("compression") ?? undefined,
      timeoutMs: connectTimeout,
      inline: Buffer.from(message, parameters.get("base64") === "1" ? "base64url" : "utf8"),
    };
  }
  const [type = ""] = headers["content-type"]?.split(";", 1) ?? [];
  const wire = wires.get(type.trim().toLowerCase());
  if (wire === undefined || req.method !== "POST") return undefined;
  if (wire.protocol === "connect")
    return { wire, encoding: headers["content-encoding"], timeoutMs: connectTimeout };
  const timeoutMs = () => parseTimeout(single(headers["grpc-timeout"]));
  return { wire, encoding: single(headers["grpc-encoding"]), timeoutMs };
}

/** Refuses a request to a known method that is a call in no supported protocol. */
function refuseForm(req: IncomingMessage, res: ServerResponse, { idempotency }: DescMethodUnary): void {
  const reads = idempotency === Idempotency.NO_SIDE_EFFECTS;
  if (req.method === "POST") res.writeHead(415, { "accept-post": [...wires.keys()].join(", ") });
  else if (req.method === "GET" && reads) res.writeHead(400);
  else res.writeHead(405, { allow: reads ? "GET, POST" : "POST" });
  res.end();
  discardBody(req, dropMax);
}

function serve(
  req: IncomingMessage,
  res: ServerResponse,
  requestId: string,
  method: DescMethodUnary,
  { wire, encoding, timeoutMs, inline }: WebReading,
  options: WebOptions,
): void {
  const bytesMax = options.bytesMaxOf(method);
  const exchange = {
    method,
    requestId,
    body: inline === undefined ? req : undefined,
    announced: announcedLength(req),
    bodyBytesMax: wire.protocol === "connect" ? bytesMax : bytesMax + frameHeadLength,
    prepare: () => {
      checkEncoding(encoding);
      if (inline !== undefined && inline.length > bytesMax) throw tooLarge(bytesMax);
      return {
        protocol: wire.protocol,
        resource: "API" as const,
        authorization: req.headers.authorization,
        idempotencyKey: single(req.headers["idempotency-key"]),
        testClock: single(req.headers["x-service-test-clock"]),
        target: `POST ${pathOf(method)}`,
        clientAddress: options.clientAddress(req),
        timeoutMs: timeoutMs(),
        writeRecord: recordWriters[wire.codec],
      };
    },
    proceed: () => {
      if (expectsContinue(req)) res.writeContinue();
    },
    unpack: (body: Buffer, hold: BodyHold) => {
      const { compressed, bytes } =
        wire.protocol === "grpc-web"
          ? unaryFrame(body)
          : { compressed: isCompressed(encoding), bytes: inline ?? body };
      return compressed ? inflated(bytes, encoding, { bytesMax, hold }) : bytes;
    },
    decode: (bytes: Uint8Array) => readMessage(method, wire.codec, bytes),
    answer: async (outcome: Outcome) => {
      const leftMax = outcome.ok ? 0 : leftOf(outcome.error, bytesMax);
      if (!outcome.ok) await lingerBeforeClose(req, leftMax);
      if (wire.protocol === "connect") answerConnect(res, wire.codec, method, outcome);
      else answerGrpcWeb(res, wire.codec, method, outcome);
      if (!outcome.ok) discardBody(req, leftMax);
    },
    onClose: (closed: () => void) => res.on("close", closed),
    abandon: () => res.destroy(),
  };
  runUnary(exchange, options);
}

/**
 * How many bytes of a refused body are dropped: a body a little over the limit of an admitted caller is dropped whole.
 */
function leftOf({ reason }: CallError, bytesMax: number): number {
  return reason === "REQUEST_TOO_LARGE" ? 2 * bytesMax : dropMax;
}

function answerConnect(res: ServerResponse, codec: Codec, method: DescMethodUnary, outcome: Outcome): void {
  if (outcome.ok) {
    write(res, 200, `application/${codec}`, writeMessage(method, codec, outcome.message), outcome.headers);
    return;
  }
  const { error } = outcome;
  const body = {
    code: error.code === "CANCELLED" ? "canceled" : error.code.toLowerCase(),
    message: error.message,
    details: detailMessages(error).map(({ desc, value }) => ({
      type: desc.typeName,
      value: Buffer.from(toBinary(desc, value))
        .toString("base64")
        .replace(/={1,2}$/, ""),
    })),
  };
  write(
    res,
    connectStatuses[error.code],
    "application/json",
    Buffer.from(JSON.stringify(body)),
    headersOf(outcome),
  );
}

// The status comes in the body even without a message, because browsers hide unknown headers from scripts.
function answerGrpcWeb(res: ServerResponse, codec: Codec, method: DescMethodUnary, outcome: Outcome): void {
  const trailers = statusTrailers(outcome.ok ? undefined : outcome.error);
  const lines = Object.entries(trailers).map(([name, value]) => `${name}: ${value}\r\n`);
  const end = frameOf(Buffer.from(lines.join("")), trailersFlag);
  const body = outcome.ok ? Buffer.concat([frameOf(writeMessage(method, codec, outcome.message)), end]) : end;
  write(res, 200, `application/grpc-web+${codec}`, body, headersOf(outcome));
}

function headersOf(outcome: Outcome): Record<string, string> {
  if (outcome.ok) return { ...outcome.headers };
  const { retryAfterSeconds, headers } = outcome.error.refusal;
  const retry = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return { ...retry, ...outcome.headers, ...headers };
}

function write(
  res: ServerResponse,
  status: number,
  contentType: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
): void {
  res.writeHead(status, {
    "content-type": contentType,
    "content-length": String(body.length),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...headers,
  });
  res.end(body);
}

function parseConnectTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,10}$/.test(text)) {
    throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", "connect-timeout-ms is malformed");
  }
  return Number(text);
}
