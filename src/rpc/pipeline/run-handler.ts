import { create, type Message } from "@bufbuild/protobuf";
import type { Db } from "../../db/open.ts";
import { CallError } from "../../lib/errors.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import type { Context, Finish, Write } from "../handlers.ts";
import { type Answerer, actor, asker } from "./ask.ts";
import type { CallDeadline } from "./call-deadline.ts";
import { type CallState, ownerOf, type PipelineDeps } from "./call-state.ts";
import { checkIdempotencyKey, type KeyedCall, type KeyedOutcome, runOnce } from "./idempotency.ts";

interface Handling extends Pick<Context, "complete"> {
  readonly deadline: CallDeadline;
  /** The time that the rules of workflows see, when the caller has set one. */
  readonly testClock: Date | undefined;
  readonly answerer: Answerer;
}

/** Runs the handler, once for an idempotency key. */
export async function handled(
  deps: PipelineDeps,
  state: CallState,
  request: Message,
  { deadline, testClock, complete, answerer }: Handling,
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
    complete,
    ask: asker(answerer, () => contextOn(db)),
    act: actor(answerer, () => contextOn(db)),
    tell: (part) => call.tell?.(part),
    ruleTime: testClock === undefined ? deps.now : () => testClock,
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
    testClock,
    signal: deadline.signal,
    prepare,
  });
  state.isReplay = isReplay;
  if (outcome instanceof CallError) throw outcome;
  return isReplay ? renewed(state, request, outcome, contextOn(ownDb)) : finished(outcome);
}

/** The answer of a replay: the stored one, unless the method makes another of it. */
async function renewed(
  { plan: { handle, method } }: CallState,
  request: Message,
  stored: Message,
  context: Context,
): Promise<Message> {
  if (handle.renew === undefined) return stored;
  return create(method.output, await handle.renew(request as never, stored as never, context));
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

interface KeyedRun extends Pick<KeyedCall, "key" | "testClock"> {
  readonly signal: AbortSignal;
  readonly prepare: () => Promise<Write<Message>>;
}

function runKeyed(
  { now, idempotency, turns }: PipelineDeps,
  state: CallState,
  request: Message,
  { key, testClock, signal, prepare }: KeyedRun,
): Promise<KeyedOutcome> {
  const { plan, call } = state;
  const refusal = checkIdempotencyKey(key);
  if (refusal !== undefined) throw refusal;
  const owner = ownerOf(state);
  const asked = { plan, request, target: call.target, testClock };
  const keyed = { ...asked, ...keyOwnerOf(state), key, deadline: signal };
  const dbs = { db: turns.of(owner), longDb: turns.of(owner, { patience: () => signal, isLong: true }) };
  return runOnce({ ...dbs, now, ...idempotency }, keyed, prepare);
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
