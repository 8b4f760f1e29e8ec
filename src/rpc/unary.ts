import type { Readable } from "node:stream";
import type { DescMethod, DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import { CallError, fail } from "../lib/errors.ts";
import { tooLarge } from "../lib/inflated.ts";
import type { Call, Invoke, Outcome } from "./call.ts";

/** What the adapters of all RPC protocols need. */
export interface UnaryOptions {
  readonly services: readonly DescService[];
  readonly invoke: Invoke;
  readonly newRequestId: () => string;
  /** The limit of a method's request message in bytes. */
  readonly bytesMaxOf: (method: DescMethodUnary) => number;
  /** Told of what is a bug of ours: the client gets INTERNAL under this request id. */
  readonly onFault: (error: unknown, requestId: string) => void;
}

/** One call as its protocol reads and writes it. What `prepare` and `decode` throw becomes the answer. */
export interface Exchange {
  readonly method: DescMethodUnary;
  readonly requestId: string;
  /** Where the body comes from; its `close` without an answer means that the client went away. */
  readonly body: Readable;
  /** The most that the body may have, in bytes. */
  readonly bodyBytesMax: number;
  /** Looks at the headers. */
  readonly prepare: () => Omit<Call, "requestId" | "signal">;
  /** Reads the message, once the pipeline wants it. */
  readonly decode: (body: Buffer) => Message | Promise<Message>;
  /** Writes the answer; called at most once. */
  readonly answer: (outcome: Outcome) => void;
  /** Calls back when nobody waits for the answer any more. */
  readonly onClose: (closed: () => void) => void;
  /** Ends it when even the answer fails. */
  readonly abandon: () => void;
}

// What setTimeout can hold; nobody waits 24 days.
const timeoutMsMax = 2 ** 31 - 1;

/** Runs one call, which ends once: by its outcome, its deadline, a refusal, or the client going away. */
export function runUnary(
  exchange: Exchange,
  { invoke, onFault }: Pick<UnaryOptions, "invoke" | "onFault">,
): void {
  const { requestId } = exchange;
  const aborter = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  const finish = (outcome: Outcome) => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    try {
      exchange.answer(outcome);
    } catch (error) {
      onFault(error, requestId);
      exchange.abandon();
    }
  };
  const refuse = (error: unknown) => {
    if (!(error instanceof CallError)) onFault(error, requestId);
    const refusal = error instanceof CallError ? error : fail("INTERNAL", "INTERNAL", "internal error");
    finish({ ok: false, error: refusal, headers: {} });
  };
  const waitAtMost = (timeoutMs: number | undefined) => {
    if (timeoutMs === undefined || timeoutMs > timeoutMsMax) return;
    timer = setTimeout(() => {
      refuse(fail("DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED", "the deadline of the call has passed"));
      aborter.abort();
    }, timeoutMs);
  };

  exchange.onClose(() => {
    clearTimeout(timer);
    if (!ended) aborter.abort();
    ended = true;
  });
  try {
    const call = { ...exchange.prepare(), requestId, signal: aborter.signal };
    waitAtMost(call.timeoutMs);
    receive(exchange, refuse, (body) => {
      invoke(exchange.method, () => exchange.decode(body), call).then(finish, refuse);
    });
  } catch (error) {
    refuse(error);
  }
}

/** Reads the body under its limit, mostly in one piece. What comes beyond it is read and thrown away. */
function receive(
  { body, bodyBytesMax }: Exchange,
  refuse: (error: CallError) => void,
  done: (body: Buffer) => void,
): void {
  let chunks: Buffer[] = [];
  let length = 0;
  body.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= bodyBytesMax) chunks.push(chunk);
    else if (chunks.length > 0 || length === chunk.length) {
      chunks = [];
      refuse(tooLarge(bodyBytesMax));
    }
  });
  body.on("end", () => {
    const [only] = chunks;
    if (length > bodyBytesMax) return;
    done(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
  });
}

/** Whether a method takes one message and gives one. */
export function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

/** The path of a method in every RPC protocol. */
export function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** A header as one text, repeated ones joined by commas. */
export function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}
