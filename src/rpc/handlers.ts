import type {
  DescMessage,
  DescMethodUnary,
  DescService,
  JsonObject,
  Message,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Db } from "../db/open.ts";
import { type Fault, type FieldViolation, fail } from "../lib/errors.ts";
import type { WriteRecord } from "./records.ts";

/**
 * The caller: a workspace token, which has a `tokenId`, a member's session, which has a `memberId`, or an OAuth grant, which
 * has a `grantId` and, unless an agent holds it whose workspace nobody has claimed yet, the `memberId` of who granted it.
 */
export interface Caller {
  readonly workspaceId: string;
  readonly memberId: string | undefined;
  readonly tokenId: string | undefined;
  /** Present for grants only. */
  readonly grantId?: string;
  /** Present for sessions of members only. */
  readonly sessionId?: string;
  /** The member's epoch when the session began; present for sessions only. */
  readonly sessionEpoch?: number;
  /** Public scope names, such as `links:read`; a write scope always comes with its read scope. */
  readonly scopes: ReadonlySet<string>;
  /** Whether the caller may do everything: a token without chosen scopes, or an administrator. */
  readonly fullAccess: boolean;
  /** True for callers of a sandbox workspace. */
  readonly sandbox: boolean;
}

/** What a handler is given beside the request. */
export interface Context {
  /** Absent on open calls without a token; handlers of all other calls use `callerOf`. */
  readonly caller: Caller | undefined;
  /**
   * The caller's share of the pool, or the transaction that also holds the idempotency record. Handlers open further
   * transactions with `inTransaction`. Nothing waits inside this one: handlers that have to wait are made with
   * `inTwoParts`.
   */
  readonly db: Db;
  readonly requestId: string;
  /** The client's address, after trusted proxies. */
  readonly address: string;
  /**
   * The time that the rules of workflows see: of the test clock that a sandbox's call sends, or else the present. Stored
   * times never come from it.
   */
  readonly ruleTime: () => Date;
  /** Aborts when the client goes away or the deadline passes. */
  readonly signal: AbortSignal;
  /**
   * Registers work for after the commit of the call's transaction, such as waiting for a job that the call queued. The
   * client gets the answer of `finish`. A replay gets the handler's own answer.
   */
  readonly afterCommit: (finish: Finish) => void;
  /**
   * Writes one record of the answer at once, so that a long list is not written in one go. Returns the record's bytes.
   */
  readonly writeRecord: WriteRecord;
  /**
   * An update's request whose fields are whole: where its mask names parts of a field, the others are those of `stored`, the
   * record as it stands, with the request's names. Throws INVALID_ARGUMENT for what would become of it.
   */
  readonly complete: <Request extends Message>(request: Request, stored: () => Message) => Request;
  /**
   * Asks another operation, which only reads, in the name of the caller: with the caller's scopes, by the operation's own
   * rules, and in its turn if it is costly. Takes its request as JSON. It is a part of this call, not one of its own: neither
   * rate nor plan count it. It may wait, so that it is refused in a transaction: ask in the first part of a handler. Throws
   * what the operation refuses.
   */
  readonly ask: <Output extends DescMessage>(
    method: DescMethodUnary<DescMessage, Output>,
    json: JsonObject,
  ) => Promise<MessageShape<Output>>;
  /**
   * Like `ask`, for any operation. An operation that writes does so in a transaction of its own, which stays whatever becomes
   * of this call. An update without a mask changes the fields that the JSON gives.
   */
  readonly act: <Output extends DescMessage>(
    method: DescMethodUnary<DescMessage, Output>,
    json: JsonObject,
  ) => Promise<MessageShape<Output>>;
  /** Sends a part of the answer at once. Does nothing for a client that waits for the whole. */
  readonly tell: (part: Message) => void;
}

/** Runs outside of any transaction and answers the call. */
export type Finish = (db: Db) => Promise<MessageInitShape<DescMethodUnary["output"]>>;

/**
 * The second part of a handler: it writes, and answers the call. Undefined when the data it builds on has changed
 * meanwhile.
 */
export type Write<Answer> = (db: Db) => Promise<Answer | undefined>;

type Prepare<Request, Answer> = (request: Request, context: Context) => Promise<Write<Answer>>;

/** How many attempts a call gets when other calls change the same records. */
const triesMax = 5;

/** Repeats the attempt until it yields an answer; throws ABORTED when other calls interfere with every attempt. */
export async function untilMade<Answer>(attempt: () => Promise<Answer | undefined>): Promise<Answer> {
  for (let tries = 0; tries < triesMax; tries++) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
  }
  throw fail("ABORTED", "ABORTED", "others are changing the same records; try again");
}

/**
 * Makes a handler that waits: for a picture to be read, a code to be verified, a record to arrive. `prepare` waits
 * outside of any transaction and returns the function that writes. With an idempotency key only this second part holds
 * a connection.
 */
export function inTwoParts<Request, Answer>(prepare: Prepare<Request, Answer>) {
  const handle = (request: Request, context: Context): Promise<Answer> =>
    untilMade(async () => (await prepare(request, context))(context.db));
  return Object.assign(handle, { prepare });
}

/**
 * Checks a request beyond the rules of its fields, without a database. The pipeline also runs the check on requests
 * that break field rules, so that a caller learns of every bad field at once.
 */
type RequestCheck<Request> = (request: Request, readRequest: ReadRequest) => readonly Fault[];

/**
 * Reads the JSON of a request for another operation as the operation would, and judges it by the rules of its fields, and by
 * a further check if there is one. A field that the operation lacks is a fault.
 */
export type ReadRequest = (
  method: DescMethodUnary,
  json: JsonObject,
  checkMore?: (request: Message) => readonly Fault[] | undefined,
) => { readonly request: Message; readonly faults: readonly FieldViolation[] };

/** Adds a check to a handler, in one or two parts; the handler runs only for requests without a fault. */
export function withCheck<Request, Answer>(
  check: RequestCheck<Request>,
  handle: ((request: Request, context: Context) => Promise<Answer>) & {
    readonly prepare?: Prepare<Request, Answer>;
  },
) {
  return Object.assign(handle, { check });
}

/**
 * Answers a replay of a call whose answer holds what is never stored. `stored` is the handler's own answer. It runs outside of
 * any transaction, and throws what the caller is then refused with.
 */
type Renew<Request, Answer> = (request: Request, stored: Answer, context: Context) => Promise<Answer>;

/** Adds to a handler, in one or two parts, what answers its replays. */
export function withRenewal<Request, Answer>(
  renew: Renew<Request, Answer>,
  handle: ((request: Request, context: Context) => Promise<Answer>) & {
    readonly prepare?: Prepare<Request, Answer>;
  },
) {
  return Object.assign(handle, { renew });
}

/** The handlers of a service, one for each of its unary RPCs: a missing one does not compile. */
export type Handlers<S extends DescService> = {
  readonly [K in keyof S["method"] as S["method"][K] extends DescMethodUnary
    ? K
    : never]: S["method"][K] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, context: Context) => Promise<MessageInitShape<O>>
    : never;
};

/** A service and its handlers; registering it here registers it for every protocol. */
export interface RegisteredService {
  readonly service: DescService;
  /** Method names, as handlers have them, of methods that are not built yet: they answer UNIMPLEMENTED. */
  readonly unbuilt: ReadonlySet<string>;
  readonly handlers: Readonly<Record<string, Handle>>;
}

type AnyAnswer = MessageInitShape<DescMethodUnary["output"]>;

/**
 * The handler of a method, with `prepare` where it has two parts, `check` where it checks more than fields, and `renew` where
 * replays have answers of their own.
 */
export interface Handle {
  (request: never, context: Context): Promise<AnyAnswer>;
  readonly prepare?: Prepare<never, AnyAnswer>;
  readonly check?: RequestCheck<never>;
  readonly renew?: Renew<never, AnyAnswer>;
}

/** Pairs a service with its handlers; the compiler checks that they match. */
export function register<S extends DescService>(service: S, handlers: Handlers<S>): RegisteredService {
  return registered(service, handlers);
}

/**
 * Registers a service that is built in part: a call of a method without a handler passes all checks and is then
 * refused.
 */
export function registerPartly<S extends DescService>(
  service: S,
  handlers: Partial<Handlers<S>> = {},
): RegisteredService {
  return registered(service, handlers);
}

function registered(service: DescService, handlers: object): RegisteredService {
  const unary = service.methods.filter(({ methodKind }) => methodKind === "unary");
  const names = unary.map(({ localName }) => localName);
  return {
    service,
    unbuilt: new Set(names.filter((name) => !Object.hasOwn(handlers, name))),
    // Handlers<S> has these functions under these names; only the map over S is opaque to the compiler.
    handlers: handlers as RegisteredService["handlers"],
  };
}

/** The caller of an operation that needs a token; the pipeline refuses everybody else. */
export function callerOf(context: Context): Caller {
  if (context.caller === undefined) throw new Error("an open operation has no caller");
  return context.caller;
}
