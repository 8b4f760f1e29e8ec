import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { CallError } from "../lib/errors.ts";
import type { Resource } from "../oauth/resources.ts";
import type { WriteRecord } from "./records.ts";

export type Protocol = "rest" | "grpc" | "grpc-web" | "connect" | "mcp";

/** One unary call as a protocol's adapter hands it to the pipeline. */
export interface Call {
  readonly protocol: Protocol;
  /** What the call is made to. An access token of another resource is refused. */
  readonly resource: Resource;
  /** The caller's `X-Request-Id` when it has 1–128 characters `[A-Za-z0-9_-]`, else a new one. */
  readonly requestId: string;
  /** The `Authorization` header or metadata, unread. */
  readonly authorization: string | undefined;
  /** The `Idempotency-Key` header or metadata, unread. */
  readonly idempotencyKey: string | undefined;
  /** The `X-Service-Test-Clock` header or metadata, unread. Only callers of sandboxes have one. */
  readonly testClock: string | undefined;
  /**
   * HTTP method, path and query as the client sent them (`POST /v1/links`); RPC protocols: `POST
   * /signpost.v1.LinksService/Create`.
   */
  readonly target: string;
  /** The client's IP address, after trusted proxies. */
  readonly clientAddress: string;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /** The time the client is willing to wait, if the client said so. */
  readonly timeoutMs: number | undefined;
  /** Writes records in the form that the answer will have. */
  readonly writeRecord: WriteRecord;
  /** Sends a part of the answer at once, to clients that asked for a stream. */
  readonly tell?: (part: Message) => void;
}

/** HTTP headers or gRPC metadata of an answer, with lower-case names: `x-request-id`, `ratelimit`, `location`. */
export type AnswerHeaders = Readonly<Record<string, string>>;

export type Outcome =
  | { readonly ok: true; readonly message: Message; readonly headers: AnswerHeaders }
  | { readonly ok: false; readonly error: CallError; readonly headers: AnswerHeaders };

/**
 * Accepts a message of this many bytes, without its compression, for decoding: a large one takes more of the caller's rate
 * and waits for its turn. Rejects with the `CallError` that refuses it.
 */
export type Weigh = (bytes: number) => Promise<void>;

/** Receives the request message, has it weighed, and decodes it. May throw a `CallError`. */
export type Read = (weigh: Weigh) => Message | Promise<Message>;

/**
 * The only way into a handler, shared by every protocol. The pipeline reads the message after authentication, rate limit and
 * scope, so that a stranger's body is never parsed. Never rejects.
 */
export type Invoke = (method: DescMethodUnary, read: Read, call: Call) => Promise<Outcome>;
