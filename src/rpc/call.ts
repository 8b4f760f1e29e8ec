import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { CallError } from "../lib/errors.ts";
import type { WriteRecord } from "./records.ts";

export type Protocol = "rest" | "grpc" | "grpc-web" | "connect";

/** One unary call as a protocol's adapter hands it to the pipeline. */
export interface Call {
  readonly protocol: Protocol;
  /** The caller's `X-Request-Id` when it has 1–128 characters `[A-Za-z0-9_-]`, else a new one. */
  readonly requestId: string;
  /** The `Authorization` header or metadata, unread. */
  readonly authorization: string | undefined;
  /** The `Idempotency-Key` header or metadata, unread. */
  readonly idempotencyKey: string | undefined;
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
}

/** HTTP headers or gRPC metadata of an answer, with lower-case names: `x-request-id`, `ratelimit`, `location`. */
export type AnswerHeaders = Readonly<Record<string, string>>;

export type Outcome =
  | { readonly ok: true; readonly message: Message; readonly headers: AnswerHeaders }
  | { readonly ok: false; readonly error: CallError; readonly headers: AnswerHeaders };

/**
 * The only way into a handler, shared by every protocol. `read` decodes the request message and may throw a
 * `CallError`. The pipeline calls `read` after authentication, rate limit and scope, so the server never parses a
 * stranger's body. Never rejects.
 */
export type Invoke = (
  method: DescMethodUnary,
  read: () => Message | Promise<Message>,
  call: Call,
) => Promise<Outcome>;
