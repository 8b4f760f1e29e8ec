import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { create, type JsonObject, type Message, toJsonString } from "@bufbuild/protobuf";
import { CallError, fail, invalid } from "../../lib/errors.ts";
import { takesIdempotencyKey } from "../../rpc/access.ts";
import { checkIdempotencyKey } from "../../rpc/pipeline/idempotency.ts";
import { readRequest } from "../../rpc/pipeline/validate.ts";
import type { Json, ToolAnswer, Use } from "../tool.ts";
import type { OperationCall, Step, Steps, Task } from "./task.ts";
import { told } from "./words.ts";

/** A task that asks for more than this has gone astray. */
const stepsMax = 250;

/**
 * Runs a task: makes the calls that it asks for, one after the other, in the caller's name. Of a call that is refused it
 * says which one it was, what stands, and how to go on.
 */
export async function runTask(task: Task, given: Json, use: Use, now: Date): Promise<ToolAnswer> {
  const { idempotencyKey: key, ...rest } = given;
  const idempotencyKey = keyIn(key);
  // The keys and values come from JSON.
  const { request, faults } = readRequest(task.method, rest as JsonObject);
  if (faults.length > 0) throw invalid(faults);
  // The request is read by the task's own descriptor; only the list's common type is narrower.
  const steps = task.steps(request as never, now);
  const { result, text, images = [] } = await runSteps(task, steps, use, idempotencyKey);
  const message = create(task.method.output, result as Message);
  const structured = toJsonString(task.method.output, message, { alwaysEmitImplicit: true });
  return { structured, text: told(text), images: images.filter((image) => image !== undefined) };
}

function keyIn(given: unknown): string | undefined {
  if (given === undefined || given === null) return undefined;
  const fault = typeof given === "string" ? checkIdempotencyKey(given) : invalid([keyFault]);
  if (fault !== undefined) throw fault;
  return String(given);
}

const keyFault = { field: "idempotencyKey", description: "must be a text" };

/** Whose steps they are, and the operations that they may call. */
export interface Allowed {
  readonly method: { readonly name: string };
  readonly operations: Task["operations"];
}

/** Runs steps to their result, in the caller's name. */
export async function runSteps<Result>(
  allowed: Allowed,
  steps: Steps<Result>,
  use: Use,
  idempotencyKey?: string,
): Promise<Result> {
  return drive({ task: allowed, use, idempotencyKey, done: [], writes: new Set() }, steps);
}

interface Run {
  readonly task: Allowed;
  readonly use: Use;
  readonly idempotencyKey: string | undefined;
  /** What stands, in the order in which it was done. */
  readonly done: string[];
  /** The calls that wrote, by what they do. */
  readonly writes: Set<string>;
}

async function drive<Result>(run: Run, steps: Steps<Result>): Promise<Result> {
  let next = steps.next();
  let refused: { readonly call: OperationCall; readonly error: CallError } | undefined;
  try {
    for (let asked = 0; next.done !== true; asked++) {
      if (asked > stepsMax) throw new Error(`${run.task.method.name}: takes too many steps`);
      const step = next.value;
      const outcome = await answer(run, step).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      if ("error" in outcome && step.kind === "call" && outcome.error instanceof CallError)
        refused = { call: step, error: outcome.error };
      next = "error" in outcome ? steps.throw(outcome.error) : steps.next(outcome.value);
    }
    return next.value;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    throw refusalOf(run, error, refused?.error === error ? refused.call : undefined);
  }
}

async function answer(run: Run, step: Step): Promise<unknown> {
  switch (step.kind) {
    case "pause":
      return sleep(step.milliseconds);
    case "image":
      return run.use.image(step.address);
    case "check":
      // The request is made of JSON.
      return readRequest(step.method, step.request as JsonObject).faults;
    default:
      return callOf(run, step);
  }
}

async function callOf(
  { task, use, idempotencyKey, done, writes }: Run,
  call: OperationCall,
): Promise<Message> {
  const { what, method, request, did } = call;
  if (!task.operations.includes(method)) throw new Error(`${task.method.name}: does not list ${method.name}`);
  if (did !== undefined && writes.has(what)) throw new Error(`${task.method.name}: would ${what} twice`);
  const takesKey = did !== undefined && takesIdempotencyKey(method);
  const key = idempotencyKey === undefined || !takesKey ? undefined : keyOf(idempotencyKey, task, what);
  const { message } = await use.perform(method, request, key === undefined ? {} : { idempotencyKey: key });
  if (did !== undefined) {
    writes.add(what);
    // The call lists its own method, whose answers these are.
    done.push(did(message as never));
  }
  return message;
}

/** A key for one call of a task. It is the same for every retry of the task, however far the task came before. */
function keyOf(idempotencyKey: string, { method }: Allowed, what: string): string {
  return createHash("sha256").update(`${idempotencyKey}\n${method.name}\n${what}`).digest("base64url");
}

/** What a model learns of a task that stopped: where, why, what stands, and how to go on. */
function refusalOf(
  { done, idempotencyKey }: Run,
  error: CallError,
  call: OperationCall | undefined,
): CallError {
  const where = call === undefined ? error.message : `could not ${call.what}: ${error.message}`;
  const { metadata } = error.refusal;
  const refusal = {
    ...error.refusal,
    metadata: {
      ...metadata,
      ...(call === undefined
        ? {}
        : { step: call.what, operation: `${call.method.parent.name}.${call.method.name}` }),
      ...(done.length === 0 ? {} : { done: done.join("; ") }),
    },
  };
  return fail(error.code, error.reason, `${where}; ${standing(done, idempotencyKey !== undefined)}`, refusal);
}

function standing(done: readonly string[], hasKey: boolean): string {
  if (done.length === 0) return "nothing was changed";
  const onward = hasKey
    ? "mend the cause and call again with the same idempotencyKey: what is done is not done twice"
    : "go on from there, and do not repeat the whole call";
  return `done before, and it stays: ${done.join("; ")}. To go on: ${onward}`;
}
