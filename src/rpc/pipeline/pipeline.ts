import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import { describeFailure } from "../../db/describe-failure.ts";
import type { Db } from "../../db/open.ts";
import type { Turns } from "../../db/turns.ts";
import { networkOf } from "../../lib/client-address.ts";
import { CallError, fail } from "../../lib/errors.ts";
import { othersTurn } from "../../lib/limits/loop-turns.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import { type MethodPlan, planMethods } from "../access.ts";
import type { AnswerHeaders, Call, Invoke, Outcome, Read } from "../call.ts";
import type { Context, Finish, RegisteredService, Write } from "../handlers.ts";
import type { ApiCalls, CountedCall } from "./api-calls.ts";
import { type Answerer, asker } from "./ask.ts";
import { type CallDeadline, startDeadline } from "./call-deadline.ts";
import { type CostLines, type Leave, openLines } from "./cost.ts";
import type { Authenticate, Identity } from "./credentials/authenticate.ts";
import { toCallError } from "./failure.ts";
import { checkIdempotencyKey, type KeyedCall, type KeyedOutcome, runOnce } from "./idempotency.ts";
import { jobHeaders } from "./job-headers.ts";
import type { CallMetrics } from "./metrics.ts";
import { permit, permitFields } from "./permit.ts";
import { type Bucket, type BucketState, limitHeaders, type RateLimiter } from "./rate-limit.ts";
import { clockOf } from "./test-clock.ts";
import { completed } from "./update-mask.ts";

export interface PipelineDeps {
  readonly services: readonly RegisteredService[];
  readonly turns: Turns;
  readonly now: () => Date;
  readonly authenticate: Authenticate;
  readonly rateLimiter: RateLimiter;
  readonly apiCalls: ApiCalls;
  readonly idempotency: { readonly fingerprintKey: Uint8Array; readonly outcomeKey: Uint8Array };
  readonly metrics: CallMetrics;
  readonly log: Pick<Logger, "info" | "error">;
  /** How long a call may run before it is answered with DEADLINE_EXCEEDED, in milliseconds. */
  readonly requestTimeoutMs: number;
}

/** What the pipeline has learned of a call so far, for the answer's headers and the log line. */
interface CallState {
  readonly plan: MethodPlan;
  readonly call: Call;
  identity: Identity | undefined;
  rateLeft: BucketState | undefined;
  /** Set for calls that the plan limits, once the caller is known. */
  counted: CountedCall | undefined;
  isReplay: boolean;
  isLarge: boolean;
  /** Whether the call is answered. It may be before its work ends. */
  isOver: boolean;
}

interface Running {
  readonly read: Read;
  readonly deadline: CallDeadline;
  readonly lines: CostLines;
  readonly plans: ReadonlyMap<DescMethod, MethodPlan>;
}

let rules: Promise<typeof import("./validate.ts")> | undefined;

/** Loads the interpreter of field rules. A start does not wait for it; the first call does. */
export function loadRules(): Promise<typeof import("./validate.ts")> {
  rules ??= import("./validate.ts");
  return rules;
}

/**
 * Builds the pipeline that every protocol calls. Its order: token 401, rate 429, scope 403, reading and rules 400, the
 * calls of the plan 429, a turn among calls of the same cost 429, idempotency, handler. Then it writes one log line and
 * counts the call. Throws when a method is not unary, declares no access or has no handler.
 */
export function createPipeline(deps: PipelineDeps): Invoke {
  const plans = planMethods(deps.services);
  const lines = openLines();
  return async (method, read, call) => {
    // This clock only measures the duration. Stored times come from `now`.
    const startedAt = performance.now();
    const plan = plans.get(method);
    if (plan === undefined) return unknownMethod(call);
    const state: CallState = {
      plan,
      call,
      identity: undefined,
      rateLeft: undefined,
      counted: undefined,
      isReplay: false,
      isLarge: false,
      isOver: false,
    };
    const deadline = startDeadline(call.signal, Math.min(call.timeoutMs ?? Infinity, deps.requestTimeoutMs));
    let outcome: Outcome;
    try {
      const message = await deadline.race(run(deps, state, { read, deadline, lines, plans }));
      outcome = { ok: true, message, headers: { ...headersOf(state, true), ...jobHeaders(plan, message) } };
    } catch (error) {
      outcome = { ok: false, error: toCallError(error), headers: headersOf(state, false) };
    }
    deadline.clear();
    report(deps, state, outcome, (performance.now() - startedAt) / 1000);
    return outcome;
  };
}

async function run(
  deps: PipelineDeps,
  state: CallState,
  { read, deadline, lines, plans }: Running,
): Promise<Message> {
  await admit(deps, state);
  if (deps.turns.isCrowded(ownerOf(state))) throw tooManyAtOnce();
  const ruleTime = clockOf(state.call, state.identity, deps.now);
  const request = await deadline.aside(() => read((bytes) => weigh(deps, state, bytes)));
  permitFields(state.plan, request, state.identity);
  const { checkRequest, readRequest } = await loadRules();
  if (state.isLarge) await othersTurn();
  const { handle, method } = state.plan;
  // As in `runHandler`: only the registry's common type is narrower.
  const refusalOf = (given: Message) =>
    checkRequest(given, method.input, () => handle.check?.(given as never, readRequest));
  const refusal = refusalOf(request);
  if (refusal !== undefined) throw refusal;
  const beyondPlan = state.counted?.refusal();
  if (beyondPlan !== undefined) throw beyondPlan;
  const complete: Context["complete"] = (given, stored) => completed(given, method.input, stored, refusalOf);
  const leave = await turnOf(state, lines, deadline.signal);
  const answerer: Answerer = {
    planOf: (asked) => plans.get(asked),
    permit: (asked) => permit(asked.access, state.identity, deps.authenticate),
    // A call of the same cost has its turn already, and would wait for itself.
    turnOf: (asked) =>
      asked.cost === state.plan.cost ? undefined : turnOf({ ...state, plan: asked }, lines, deadline.signal),
    readRequest,
  };
  try {
    return await handled(deps, state, request, { deadline, complete, ruleTime, answerer });
  } finally {
    leave?.();
  }
}

/** Waits for the turn of a call that costs more than most. While the call waits, its body counts as kept memory. */
function turnOf(
  { plan, call, identity }: CallState,
  lines: CostLines,
  signal: AbortSignal,
): Promise<Leave> | Leave | undefined {
  const line = lines.get(plan.cost);
  if (line === undefined) return undefined;
  const turn = line.enter(identity?.caller.workspaceId ?? networkOf(call.clientAddress), signal);
  if (turn !== undefined) return turn;
  const message = "too many calls of this kind are waiting; send fewer at a time";
  throw fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", message, { retryAfterSeconds: 2 });
}

async function handled(
  deps: PipelineDeps,
  state: CallState,
  request: Message,
  {
    deadline,
    answerer,
    ...given
  }: Pick<Running, "deadline"> & Pick<Context, "complete" | "ruleTime"> & { readonly answerer: Answerer },
): Promise<Message> {
  const { plan, call } = state;
  let finish: Finish | undefined;
  const ownDb = deps.turns.of(ownerOf(state), { patience: () => deadline.signal });
  const contextOn = (db: Db): Context => ({
    caller: state.identity?.caller,
    db,
    requestId: call.requestId,
    address: call.clientAddress,
    signal: deadline.signal,
    afterCommit: (left) => {
      finish = left;
    },
    writeRecord: call.writeRecord,
    ask: asker(answerer, () => contextOn(db)),
    ...given,
  });
  const finished = async (message: Message) =>
    finish === undefined ? message : create(plan.method.output, await finish(ownDb));
  const key = plan.takesIdempotencyKey ? call.idempotencyKey : undefined;
  // Once the caller was told that the call is over, no effect may begin.
  deadline.signal.throwIfAborted();
  if (key === undefined) return finished(await runHandler(state, request, contextOn(ownDb)));
  const prepare = () => prepareWrite(state, request, ownDb, contextOn);
  const { outcome, isReplay } = await runKeyed(deps, state, request, {
    key,
    signal: deadline.signal,
    prepare,
  });
  state.isReplay = isReplay;
  if (outcome instanceof CallError) throw outcome;
  return finished(outcome);
}

/** Lets the caller in or throws: token, then rate, then scope. */
async function admit(
  { authenticate, rateLimiter, apiCalls, now }: PipelineDeps,
  state: CallState,
): Promise<void> {
  const { plan, call } = state;
  const at = now();
  try {
    state.identity = await authenticate.identityOf(call.authorization, at);
    if (state.identity === undefined && plan.access.scope !== undefined) throw authenticate.tokenRequired();
  } catch (error) {
    // A refused caller gets the rate-limit headers of callers without a token.
    state.rateLeft = rateLimiter.take({ kind: "anonymous", address: call.clientAddress });
    throw error;
  }
  for (const bucket of bucketsOf(state)) checkRate(state, bucket, rateLimiter.take(bucket));
  if (isCounted(state)) {
    const begun = apiCalls.begin(state.identity.caller.workspaceId, at);
    const counted = begun instanceof Promise ? await begun : begun;
    // Nobody else ends a call that begins only after its answer.
    if (state.isOver) counted?.end("DEADLINE_EXCEEDED");
    else state.counted = counted;
  }
  permit(plan.access, state.identity, authenticate);
}

/**
 * Whether the call uses up calls of the workspace's plan. Open calls ignore tokens, members' sessions are free, and
 * anybody can call with a publishable token.
 */
function isCounted(state: CallState): state is CallState & { readonly identity: Identity } {
  const { plan, identity } = state;
  if (identity === undefined || plan.access.scope === undefined) return false;
  return identity.caller.memberId === undefined && identity.credential.kind !== "PUBLISHABLE";
}

function checkRate(state: CallState, { kind }: Bucket, left: BucketState | undefined): void {
  // The headers tell of the limit that all calls of a token share.
  if (kind !== "operation" && kind !== "workspace") state.rateLeft = left;
  if (left?.isAllowed === false) {
    throw fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", "too many requests; slow down", {
      retryAfterSeconds: left.retryAfterSeconds,
    });
  }
}

/** The number of bytes of a message that costs as much as one call, in addition to the message's own call. */
const bytesOfCall = 64 * 1024;

/** Charges a large message to its caller's rate, and waits until no other long work keeps the event loop. */
async function weigh({ rateLimiter }: PipelineDeps, state: CallState, bytes: number): Promise<void> {
  const calls = Math.floor(bytes / bytesOfCall);
  if (calls === 0) return;
  for (const bucket of bucketsOf(state)) {
    if (bucket.kind !== "operation") checkRate(state, bucket, rateLimiter.takeMore(bucket, calls));
  }
  state.isLarge = true;
  await othersTurn();
}

function tooManyAtOnce(): CallError {
  const message = "too many calls of this workspace are waiting for the database; make fewer at once";
  return fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", message, { retryAfterSeconds: 1 });
}

function bucketsOf({ plan, call, identity }: CallState): Bucket[] {
  const buckets = [bucketOf(identity, call.clientAddress)];
  // Anybody can call with a publishable token, so its calls do not use up the rate of the workspace's own
  // programs.
  if (identity !== undefined && identity.credential.kind !== "PUBLISHABLE")
    buckets.push({ kind: "workspace", workspaceId: identity.caller.workspaceId });
  const { callsPerMinute, name: operation } = plan;
  if (callsPerMinute > 0)
    buckets.push({ kind: "operation", operation, callsPerMinute, address: call.clientAddress });
  return buckets;
}

function bucketOf(identity: Identity | undefined, address: string): Bucket {
  if (identity === undefined) return { kind: "anonymous", address };
  const { caller, credential } = identity;
  const { workspaceId } = caller;
  return credential.kind === "PUBLISHABLE"
    ? { kind: "publishable", workspaceId, address }
    : { kind: "token", workspaceId, tokenId: credential.id };
}

async function runHandler({ plan }: CallState, request: Message, context: Context): Promise<Message> {
  // The adapter has read the method's own input type; only the registry's common type is narrower.
  return create(plan.method.output, await plan.handle(request as never, context));
}

/** Runs the first part of a handler that has two, and returns the part that is left for the transaction. */
async function prepareWrite(
  state: CallState,
  request: Message,
  ownDb: Db,
  contextOn: (db: Db) => Context,
): Promise<Write<Message>> {
  const { handle, method } = state.plan;
  if (handle.prepare === undefined) return (tx) => runHandler(state, request, contextOn(tx));
  const write = await handle.prepare(request as never, contextOn(ownDb));
  return async (tx) => {
    const answer = await write(tx);
    return answer && create(method.output, answer);
  };
}

interface KeyedRun {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly prepare: () => Promise<Write<Message>>;
}

function runKeyed(
  { now, idempotency, turns }: PipelineDeps,
  state: CallState,
  request: Message,
  { key, signal, prepare }: KeyedRun,
): Promise<KeyedOutcome> {
  const { plan, call } = state;
  const refusal = checkIdempotencyKey(key);
  if (refusal !== undefined) throw refusal;
  const owner = ownerOf(state);
  const keyed = { plan, request, ...keyOwnerOf(state), target: call.target, key, deadline: signal };
  const dbs = { db: turns.of(owner), longDb: turns.of(owner, { patience: () => signal, isLong: true }) };
  return runOnce({ ...dbs, now, ...idempotency }, keyed, prepare);
}

/** The owner of the pool share that a call uses: its workspace, or all callers without a token together. */
function ownerOf({ identity }: CallState): string {
  return identity?.caller.workspaceId ?? noWorkspace;
}

/** The owner of an idempotency key: the token or session, or on open calls the client's address. */
function keyOwnerOf({ plan, call, identity }: CallState): Pick<KeyedCall, "workspaceId" | "caller"> {
  const { clientAddress } = call;
  if (identity === undefined || plan.access.scope === undefined)
    return { workspaceId: noWorkspace, caller: clientAddress };
  const { workspaceId } = identity.caller;
  const { kind, id } = identity.credential;
  // Many clients hold a publishable token, and none may get the stored answer of another.
  return { workspaceId, caller: kind === "PUBLISHABLE" ? `${id} ${clientAddress}` : id };
}

function headersOf({ plan, call, identity, rateLeft, isReplay }: CallState, ok: boolean): AnswerHeaders {
  const headers: Record<string, string> = { "x-request-id": call.requestId, ...plan.retirement };
  if (identity?.caller.sandbox === true) Object.assign(headers, sandboxHeaders);
  Object.assign(headers, limitHeaders(rateLeft));
  if (isReplay) headers["idempotent-replayed"] = "true";
  if (ok && plan.cacheControl !== undefined) headers["cache-control"] = plan.cacheControl;
  return headers;
}

/** Tell that an answer is of a sandbox; the answers of its links have them, too. */
const sandboxHeaders = { "x-service-sandbox": "true", "x-robots-tag": "noindex" };

function report({ metrics, log }: PipelineDeps, state: CallState, outcome: Outcome, seconds: number): void {
  const { plan, call, identity } = state;
  const code = outcome.ok ? "OK" : outcome.error.code;
  state.isOver = true;
  state.counted?.end(code);
  metrics.count(plan.name, call.protocol, code, seconds);
  // The line never holds bodies, tokens, keys or addresses of requests.
  const line = {
    method: plan.name,
    protocol: call.protocol,
    code,
    reason: outcome.ok ? undefined : outcome.error.reason,
    ms: Math.round(seconds * 1e6) / 1e3,
    requestId: call.requestId,
    workspaceId: identity?.caller.workspaceId,
    tokenId: identity?.caller.tokenId,
    memberId: identity?.caller.memberId,
  };
  const cause = outcome.ok ? undefined : outcome.error.refusal.cause;
  // Errors of parsers are the caller's fault, and they quote the body.
  if (cause === undefined || code === "INVALID_ARGUMENT") log.info(line, "call");
  else log.error({ ...line, failure: describeFailure(cause) }, "call");
}

function unknownMethod(call: Call): Outcome {
  const error: CallError = fail("UNIMPLEMENTED", "UNIMPLEMENTED", "there is no such method");
  return { ok: false, error, headers: { "x-request-id": call.requestId } };
}
