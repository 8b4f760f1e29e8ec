import type { DescMethod, Message } from "@bufbuild/protobuf";
import { networkOf } from "../../lib/client-address.ts";
import { type CallError, fail } from "../../lib/errors.ts";
import { othersTurn } from "../../lib/limits/loop-turns.ts";
import { type MethodPlan, planMethods } from "../access.ts";
import type { Call, Invoke, Outcome, Read } from "../call.ts";
import type { Context } from "../handlers.ts";
import { admit, weigh } from "./admit.ts";
import type { Answerer } from "./ask.ts";
import { type CallDeadline, startDeadline } from "./call-deadline.ts";
import { type CallState, ownerOf, type PipelineDeps } from "./call-state.ts";
import { type CostLines, type Leave, openLines } from "./cost.ts";
import { toCallError } from "./failure.ts";
import { jobHeaders } from "./job-headers.ts";
import { permit, permitFields } from "./permit.ts";
import { headersOf, report } from "./report-call.ts";
import { handled } from "./run-handler.ts";
import { testClockOf } from "./test-clock.ts";
import { completed } from "./update-mask.ts";

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
    const timeoutMs = plan.outlivesClientMs || deps.requestTimeoutMs;
    const deadline = startDeadline(call.signal, Math.min(call.timeoutMs ?? Infinity, timeoutMs));
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
  const testClock = testClockOf(state.call, state.identity);
  const request = await deadline.aside(() => read((bytes) => weigh(deps, state, bytes)));
  permitFields(state.plan, request, state.identity);
  const { checkRequest, readRequest } = await loadRules();
  if (state.isLarge) await othersTurn();
  // As in `runHandler`: only the registry's common type is narrower.
  const refusalOf = ({ handle, method }: MethodPlan, given: Message) =>
    checkRequest(given, method.input, () => handle.check?.(given as never, readRequest));
  const refusal = refusalOf(state.plan, request);
  if (refusal !== undefined) throw refusal;
  const beyondPlan = state.counted?.refusal();
  if (beyondPlan !== undefined) throw beyondPlan;
  const complete: Context["complete"] = (given, stored) =>
    completed(given, state.plan.method.input, stored, (whole) => refusalOf(state.plan, whole));
  const work = workOf(state, deadline);
  const leave = await turnOf(state, lines, work.signal);
  const answerer: Answerer = {
    planOf: (asked) => plans.get(asked),
    permit: (asked) => permit(asked.access, state, deps.authenticate),
    permitFields: (asked, given) => permitFields(asked, given, state.identity),
    // A call of the same cost has its turn already, and would wait for itself.
    turnOf: (asked) =>
      asked.cost === state.plan.cost ? undefined : turnOf({ ...state, plan: asked }, lines, work.signal),
    readRequest,
    refusalOf,
  };
  try {
    return await handled(deps, state, request, { deadline: work, complete, testClock, answerer });
  } finally {
    leave?.();
    work.clear();
  }
}

/** The deadline of the handler's work: that of the call, or one of its own for a method that outlives its client. */
function workOf({ plan }: CallState, deadline: CallDeadline): CallDeadline {
  if (plan.outlivesClientMs === 0) return deadline;
  return startDeadline(new AbortController().signal, plan.outlivesClientMs);
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

function tooManyAtOnce(): CallError {
  const message = "too many calls of this workspace are waiting for the database; make fewer at once";
  return fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", message, { retryAfterSeconds: 1 });
}

function unknownMethod(call: Call): Outcome {
  const error: CallError = fail("UNIMPLEMENTED", "UNIMPLEMENTED", "there is no such method");
  return { ok: false, error, headers: { "x-request-id": call.requestId } };
}
