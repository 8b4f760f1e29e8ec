import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { type SignpostError, toSignpostError } from "./error.ts";

/** How often and how long calls are repeated. */
export interface RetryOptions {
  /** The most milliseconds of a call with all its tries. */
  readonly timeoutMs: number;
  /** The most tries of a call; 1 means no retry. */
  readonly attemptsMax: number;
  /** Waits between tries; rejects when the caller gives up. */
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

const firstDelayMs = 200;
const delayMsMax = 10_000;
// A longer wait, such as for a month's quota, is reported to the caller at once.
const askedDelayMsMax = 30_000;

/**
 * A transport that adds the token and an idempotency key to unary calls, repeats them, and makes them fail with
 * SignpostError. A stream gets the token, and is not repeated.
 */
export function withRetries(transport: Transport, token: string, options: RetryOptions): Transport {
  return {
    stream(method, signal, timeoutMs, header, input, contextValues) {
      const headers = withToken(header, token);
      return transport.stream(method, signal, timeoutMs, headers, input, contextValues);
    },
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const headers = withToken(header, token);
      const requestId = headers.get("X-Request-Id") ?? crypto.randomUUID();
      headers.set("X-Request-Id", requestId);
      // Calls without a declared idempotency level write something new each time; the service replays the answer of a
      // known key.
      const isWriting = method.idempotency === MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
      if (isWriting && !headers.has("Idempotency-Key")) headers.set("Idempotency-Key", crypto.randomUUID());

      const deadline = performance.now() + (timeoutMs ?? options.timeoutMs);
      for (let attempt = 1; ; attempt++) {
        try {
          const left = Math.ceil(deadline - performance.now());
          return await transport.unary(method, signal, left, headers, input, contextValues);
        } catch (thrown) {
          const error = toSignpostError(thrown, requestId);
          const delay = retryDelay(error, attempt);
          const isLast = attempt >= options.attemptsMax || signal?.aborted === true;
          if (isLast || delay === undefined || performance.now() + delay >= deadline) throw error;
          await options.wait(delay, signal).catch((reason: unknown) => {
            throw toSignpostError(ConnectError.from(reason, Code.Canceled), requestId);
          });
        }
      }
    },
  };
}

function withToken(header: HeadersInit | undefined, token: string): Headers {
  const headers = new Headers(header);
  if (token !== "" && !headers.has("Authorization")) headers.set("Authorization", `Bearer ${token}`);
  return headers;
}

/** The milliseconds to wait before the next try; undefined if another try would not help. */
export function retryDelay(error: SignpostError, attempt: number): number | undefined {
  const asked = error.retryDelayMs;
  switch (error.code) {
    case "UNAVAILABLE":
    case "DEADLINE_EXCEEDED":
      return backoff(attempt, asked ?? 0);
    case "RESOURCE_EXHAUSTED":
    case "ABORTED":
      return asked === undefined || asked > askedDelayMsMax ? undefined : backoff(attempt, asked);
    default:
      return undefined;
  }
}

/**
 * Doubles with each try and is never shorter than `asked`. Half of it is random, which spreads clients that failed
 * together.
 */
function backoff(attempt: number, asked: number): number {
  const delay = Math.min(delayMsMax, firstDelayMs * 2 ** (attempt - 1));
  return asked + delay * (0.5 + Math.random() / 2);
}

/** Waits with a timer; rejects when the signal aborts. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
