import type { DescMethod, DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import { CallError, fail } from "../../lib/errors.ts";
import type { BodyBudget, BodyHold } from "../../lib/limits/body-budget.ts";
import { tooLarge } from "../../lib/limits/inflated.ts";
import { type BodySource, receiveBody } from "../../lib/limits/request-body.ts";
import type { Call, Invoke, Outcome, Weigh } from "../call.ts";

/** What the adapters of all RPC protocols need. */
export interface UnaryOptions {
  readonly services: readonly DescService[];
  readonly invoke: Invoke;
  readonly newRequestId: () => string;
  /** The limit of a method's request message in bytes. */
  readonly bytesMaxOf: (method: DescMethodUnary) => number;
  /** Limits the memory of all request bodies. */
  readonly bodies: BodyBudget;
  /** Told of each bug of ours; the client gets INTERNAL under this request id. */
  readonly onFault: (error: unknown, requestId: string) => void;
}

/** One call as its protocol reads and writes it. What `prepare`, `unpack` and `decode` throw becomes the answer. */
export interface Exchange {
  readonly method: DescMethodUnary;
  readonly requestId: string;
  /** The source of the body, if there is one. The body is received once the pipeline asks for the message. */
  readonly body: BodySource | undefined;
  /** The value of `Content-Length`, in bytes. */
  readonly announced: number;
  /** The most bytes that the body may have. */
  readonly bodyBytesMax: number;
  /** Reads the headers. */
  readonly prepare: () => Omit<Call, "requestId" | "signal">;
  /** Tells a client that waits for `100 Continue` to send the body. */
  readonly proceed?: () => void;
  /** The bytes of the message without frame and compression, for which `hold` takes room. */
  readonly unpack: (body: Buffer, hold: BodyHold) => Uint8Array | Promise<Uint8Array>;
  readonly decode: (bytes: Uint8Array) => Message;
  /** Writes the answer; called at most once. */
  readonly answer: (outcome: Outcome) => void | Promise<void>;
  /** Registers a callback for when nobody waits for the answer any more. */
  readonly onClose: (closed: () => void) => void;
  /** Destroys the exchange when even the answer fails. */
  readonly abandon: () => void;
}

const noBody = Buffer.alloc(0);

// The longest delay of setTimeout, about 24 days.
const timeoutMsMax = 2 ** 31 - 1;

/** Runs one call, which ends exactly once: by its outcome, its deadline, a refusal, or the client going away. */
export function runUnary(
  exchange: Exchange,
  { invoke, onFault, bodies }: Pick<UnaryOptions, "invoke" | "onFault" | "bodies">,
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
      exchange.answer(outcome)?.catch(abandon);
    } catch (error) {
      abandon(error);
    }
  };
  const abandon = (error: unknown) => {
    onFault(error, requestId);
    exchange.abandon();
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
    const hold = bodies.open(call.clientAddress);
    invoke(exchange.method, (weigh) => read(exchange, hold, weigh), call)
      .then(finish, refuse)
      .finally(hold.release);
  } catch (error) {
    refuse(error);
  }
}

async function read(exchange: Exchange, hold: BodyHold, weigh: Weigh): Promise<Message> {
  const bytes = await exchange.unpack(await receive(exchange, hold), hold);
  await weigh(bytes.length);
  return exchange.decode(bytes);
}

async function receive(
  { body, announced, bodyBytesMax: bytesMax, proceed }: Exchange,
  hold: BodyHold,
): Promise<Buffer> {
  if (body === undefined) return noBody;
  proceed?.();
  return receiveBody(body, { bytesMax, announced, hold, tooLarge });
}

/** Whether a method takes one message and returns one. */
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
