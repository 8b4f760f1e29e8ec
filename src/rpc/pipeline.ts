import { create, type Message } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import type { Db } from "../db/open.ts";
import { CallError, fail } from "../lib/errors.ts";
import { nobody } from "../model/nobody.ts";
import { type MethodPlan, planMethods } from "./access.ts";
import type { Authenticate, Identity } from "./authenticate.ts";
import type { AnswerHeaders, Call, Invoke, Outcome } from "./call.ts";
import { type CallDeadline, startDeadline } from "./call-deadline.ts";
import { describeFailure, toCallError } from "./failure.ts";
import type { Context, Finish, RegisteredService } from "./handlers.ts";
import { checkIdempotencyKey, type KeyedOutcome, runOnce } from "./idempotency.ts";
import type { CallMetrics } from "./metrics.ts";
import { type Allowance, type Bucket, limitHeaders, type RateLimiter } from "./rate-limit.ts";

export interface PipelineDeps {
  readonly services: readonly RegisteredService[];
  readonly db: Db;
  readonly now: () => Date;
  readonly authenticate: Authenticate;
  readonly rateLimiter: RateLimiter;
  readonly idempotency: { readonly fingerprintKey: Uint8Array; readonly outcomeKey: Uint8Array };
  readonly metrics: CallMetrics;
  readonly log: Pick<Logger, "info" | "error">;
  /** A call that runs longer is answered with DEADLINE_EXCEEDED, in milliseconds. */
  readonly requestTimeoutMs: number;
}

/** What is known of a call so far, for its answer's headers and its log line. */
interface CallState {
  readonly plan: MethodPlan;
  readonly call: Call;
  identity: Identity | undefined;
  allowance: Allowance | undefined;
  isReplay: boolean;
}

let rules: Promise<typeof import("./validate.ts")> | undefined;

/** The rules of fields bring an interpreter with them, which a start does not wait for; the first call does. */
export function loadRules(): Promise<typeof import("./validate.ts")> {
  rules ??= import("./validate.ts");
  return rules;
}

/**
 * Builds the pipeline that every protocol calls: token 401, rate 429, scope 403, reading and rules 400, idempotency,
 * handler; then one line in the log and one count. Throws when a method is not unary, declares no access or has no
 * handler.
 */
export function createPipeline(deps: PipelineDeps): Invoke {
  const plans = planMethods(deps.services);
  return async (method, read, call) => {
    // A stopwatch only: times that are kept come from `now`.
    const startedAt = performance.now();
    const plan = plans.get(method);
    if (plan === undefined) return unknownMethod(call);
    const state: CallState = { plan, call, identity: undefined, allowance: undefined, isReplay: false };
    const deadline = startDeadline(call.signal, Math.min(call.timeoutMs ?? Infinity, deps.requestTimeoutMs));
    let outcome: Outcome;
    try {
      const message = await deadline.race(run(deps, state, read, deadline));
      outcome = { ok: true, message, headers: headersOf(state, true) };
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
  read: () => Message | Promise<Message>,
  deadline: CallDeadline,
): Promise<Message> {
  const { plan, call } = state;
  await admit(deps, state);
  const request = await read();
  const { checkRequest } = await loadRules();
  const refusal = checkRequest(request, plan.method.input);
  if (refusal !== undefined) throw refusal;
  let finish: Finish | undefined;
  const handle = (db: Db) =>
    runHandler(state, request, {
      caller: state.identity?.caller,
      db,
      requestId: call.requestId,
      signal: deadline.signal,
      afterCommit: (left) => {
        finish = left;
      },
    });
  const finished = async (message: Message) =>
    finish === undefined ? message : create(plan.method.output, await finish(deps.db));
  const key = plan.takesIdempotencyKey ? call.idempotencyKey : undefined;
  // Whoever was told that the call is over must not find effects that began later.
  deadline.signal.throwIfAborted();
  if (key === undefined) return finished(await handle(deps.db));
  const { outcome, isReplay } = await runKeyed(deps, state, request, key, deadline, handle);
  state.isReplay = isReplay;
  if (outcome instanceof CallError) throw outcome;
  return finished(outcome);
}

/** Lets the caller in or throws: token, then rate, then scope. */
async function admit({ authenticate, rateLimiter, now }: PipelineDeps, state: CallState): Promise<void> {
  const { plan, call } = state;
  try {
    state.identity = await authenticate.identify(call.authorization, now());
    const needsIdentity = plan.scope !== undefined || plan.needsMember;
    if (state.identity === undefined && needsIdentity) throw authenticate.tokenRequired();
  } catch (error) {
    // Whoever is refused here is told of the limit that holds for callers without a token.
    state.allowance = rateLimiter.take({ kind: "anonymous", address: call.clientAddress });
    throw error;
  }
  for (const bucket of bucketsOf(state)) {
    const allowance = rateLimiter.take(bucket);
    // The headers tell of the limit that all calls share.
    if (bucket.kind !== "operation") state.allowance = allowance;
    if (allowance?.isAllowed === false) {
      throw fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", "too many requests; slow down", {
        retryAfterSeconds: allowance.retryAfterSeconds,
      });
    }
  }
  if (plan.scope !== undefined && state.identity?.caller.scopes.has(plan.scope) !== true)
    throw authenticate.scopeRequired(plan.scope);
  if (plan.needsMember && state.identity?.caller.memberId === undefined)
    throw fail(
      "PERMISSION_DENIED",
      "MEMBER_SESSION_REQUIRED",
      "sign in as a member; tokens cannot make this call",
    );
}

function bucketsOf({ plan, call, identity }: CallState): Bucket[] {
  const ofAll = bucketOf(identity, call.clientAddress);
  const { callsPerMinute, name: operation } = plan;
  return callsPerMinute === 0
    ? [ofAll]
    : [ofAll, { kind: "operation", operation, callsPerMinute, address: call.clientAddress }];
}

function bucketOf(identity: Identity | undefined, address: string): Bucket {
  if (identity === undefined) return { kind: "anonymous", address };
  const { workspaceId, tokenId, keyType } = identity.token;
  return keyType === "PUBLISHABLE"
    ? { kind: "publishable", workspaceId, address }
    : { kind: "token", workspaceId, tokenId };
}

async function runHandler({ plan }: CallState, request: Message, context: Context): Promise<Message> {
  // The adapter has read the method's own input type; only the registry's common type is narrower.
  return create(plan.method.output, await plan.handle(request as never, context));
}

function runKeyed(
  { db, now, idempotency }: PipelineDeps,
  { plan, call, identity }: CallState,
  request: Message,
  key: string,
  deadline: CallDeadline,
  handle: (db: Db) => Promise<Message>,
): Promise<KeyedOutcome> {
  const refusal = checkIdempotencyKey(key);
  if (refusal !== undefined) throw refusal;
  const owner =
    identity === undefined
      ? { workspaceId: nobody, caller: call.clientAddress }
      : {
          workspaceId: identity.caller.workspaceId,
          // A publishable token is in everybody's hands, and must not be told what others were answered.
          caller: identity.token.keyType === "PUBLISHABLE" ? "publishable" : "",
        };
  const keyed = { plan, request, ...owner, target: call.target, key, deadline: deadline.signal };
  return runOnce({ db, now, ...idempotency }, keyed, handle);
}

function headersOf({ plan, call, allowance, isReplay }: CallState, ok: boolean): AnswerHeaders {
  const headers: Record<string, string> = { "x-request-id": call.requestId, ...plan.retirement };
  Object.assign(headers, limitHeaders(allowance));
  if (isReplay) headers["idempotent-replayed"] = "true";
  if (ok && plan.cacheControl !== undefined) headers["cache-control"] = plan.cacheControl;
  return headers;
}

function report({ metrics, log }: PipelineDeps, state: CallState, outcome: Outcome, seconds: number): void {
  const { plan, call, identity } = state;
  const code = outcome.ok ? "OK" : outcome.error.code;
  metrics.count(plan.name, call.protocol, code, seconds);
  // Never bodies, tokens, keys or addresses of requests.
  const line = {
    method: plan.name,
    protocol: call.protocol,
    code,
    reason: outcome.ok ? undefined : outcome.error.reason,
    ms: Math.round(seconds * 1e6) / 1e3,
    requestId: call.requestId,
    workspaceId: identity?.caller.workspaceId,
    tokenId: identity?.caller.tokenId,
  };
  const cause = outcome.ok ? undefined : outcome.error.refusal.cause;
  // What parsers throw is the caller's fault, and quotes the body.
  if (cause === undefined || code === "INVALID_ARGUMENT") log.info(line, "call");
  else log.error({ ...line, failure: describeFailure(cause) }, "call");
}

function unknownMethod(call: Call): Outcome {
  const error: CallError = fail("UNIMPLEMENTED", "UNIMPLEMENTED", "there is no such method");
  return { ok: false, error, headers: { "x-request-id": call.requestId } };
}
