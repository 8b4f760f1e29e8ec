import type {
  DescMethodUnary,
  DescService,
  Message,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Db } from "../db/open.ts";
import { type Fault, fail } from "../lib/errors.ts";
import type { WriteRecord } from "./records.ts";

/** Who calls: a workspace token now; member sessions and OAuth grants look the same to a handler. */
export interface Caller {
  readonly workspaceId: string;
  readonly memberId: string | undefined;
  readonly tokenId: string | undefined;
  /** Public scope names, such as `links:read`; with every write scope stands its read scope. */
  readonly scopes: ReadonlySet<string>;
  /** Whether the caller may do everything: a token without chosen scopes, or an administrator. */
  readonly fullAccess: boolean;
  /** True for callers of a sandbox workspace. */
  readonly sandbox: boolean;
}

/** What a handler is given beside the request. */
export interface Context {
  /** Absent on open calls without a token; `callerOf` for all others. */
  readonly caller: Caller | undefined;
  /**
   * The caller's share of the pool, or the transaction that also holds the idempotency record: open further ones by
   * `inTransaction`. Nothing waits in it; handlers that have to wait are made by `inTwoParts`.
   */
  readonly db: Db;
  readonly requestId: string;
  /** The client's address, after trusted proxies. */
  readonly address: string;
  /** Aborts when the client goes away or the deadline passes. */
  readonly signal: AbortSignal;
  /**
   * Leaves something to do once the call's transaction has committed, such as to wait for a job that it queued. What it
   * answers is sent instead of the handler's answer, which is the one that a replay gets.
   */
  readonly afterCommit: (finish: Finish) => void;
  /** Writes a record of the answer at once, so that a long list is not written in one go, and says how many bytes it has. */
  readonly writeRecord: WriteRecord;
  /**
   * An update's request whose fields are whole: where its mask names parts of a field, the others are those of `stored`, the
   * record as it stands, with the request's names. Throws INVALID_ARGUMENT for what would become of it.
   */
  readonly complete: <Request extends Message>(request: Request, stored: () => Message) => Request;
}

/** Runs outside of any transaction and answers the call. */
export type Finish = (db: Db) => Promise<MessageInitShape<DescMethodUnary["output"]>>;

/** The second part of a handler: it writes, and answers the call. Undefined when what it builds on has changed meanwhile. */
export type Write<Answer> = (db: Db) => Promise<Answer | undefined>;

type Prepare<Request, Answer> = (request: Request, context: Context) => Promise<Write<Answer>>;

/** How often a call starts over when another one comes in between. */
const triesMax = 5;

/** Tries until something is made of what was prepared; throws ABORTED when others come in between again and again. */
export async function untilMade<Answer>(attempt: () => Promise<Answer | undefined>): Promise<Answer> {
  for (let tries = 0; tries < triesMax; tries++) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
  }
  throw fail("ABORTED", "ABORTED", "others are changing the same records; try again");
}

/**
 * A handler that waits: for a picture to be read, a code to be verified, a record to arrive. `prepare` does that outside of
 * any transaction, and what it answers writes. With an idempotency key only the second part holds a connection.
 */
export function inTwoParts<Request, Answer>(prepare: Prepare<Request, Answer>) {
  const handle = (request: Request, context: Context): Promise<Answer> =>
    untilMade(async () => (await prepare(request, context))(context.db));
  return Object.assign(handle, { prepare });
}

/**
 * What can be said against a request beside the rules of its fields, and without a database. It is asked also of requests
 * that break those rules, so that a caller learns of every bad field at once.
 */
type Check<Request> = (request: Request) => readonly Fault[];

/** A handler, in one or two parts, of requests that `check` has nothing to say against. */
export function withCheck<Request, Answer>(
  check: Check<Request>,
  handle: ((request: Request, context: Context) => Promise<Answer>) & {
    readonly prepare?: Prepare<Request, Answer>;
  },
) {
  return Object.assign(handle, { check });
}

/** The handlers of a service, one for each of its RPCs: a missing one does not compile. */
export type Handlers<S extends DescService> = {
  readonly [K in keyof S["method"]]: S["method"][K] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, context: Context) => Promise<MessageInitShape<O>>
    : never;
};

/** A service and its handlers; registering it here registers it for every protocol. */
export interface RegisteredService {
  readonly service: DescService;
  /** Names of its methods, as handlers have them, that are not built yet: they answer UNIMPLEMENTED. */
  readonly unbuilt: ReadonlySet<string>;
  readonly handlers: Readonly<Record<string, Handle>>;
}

type AnyAnswer = MessageInitShape<DescMethodUnary["output"]>;

/** A handler of any method; `prepare` where it is in two parts, `check` where there is more to check than fields. */
export interface Handle {
  (request: never, context: Context): Promise<AnyAnswer>;
  readonly prepare?: Prepare<never, AnyAnswer>;
  readonly check?: Check<never>;
}

/** Pairs a service with its handlers, checked against each other. */
export function register<S extends DescService>(service: S, handlers: Handlers<S>): RegisteredService {
  return registerPartly(service, handlers);
}

/** The same for a service that is built in part: what has no handler is refused once a call has passed all checks. */
export function registerPartly<S extends DescService>(
  service: S,
  handlers: Partial<Handlers<S>> = {},
): RegisteredService {
  const names = service.methods.map(({ localName }) => localName);
  return {
    service,
    unbuilt: new Set(names.filter((name) => !Object.hasOwn(handlers, name))),
    // Handlers<S> has the same functions under the same names; only the map over S is opaque to the compiler.
    handlers: handlers as RegisteredService["handlers"],
  };
}

/** The caller of an operation that is not open; the pipeline has let nobody else in. */
export function callerOf(context: Context): Caller {
  if (context.caller === undefined) throw new Error("an open operation has no caller");
  return context.caller;
}
