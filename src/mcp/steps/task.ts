import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { FieldViolation } from "../../lib/errors.ts";
import type { Image, Json } from "../tool.ts";

/** A call of an operation that a task asks for. */
export interface OperationCall {
  readonly kind: "call";
  /** What the call does, as it continues “could not …”; no two calls of a run that write say the same. */
  readonly what: string;
  readonly method: DescMethodUnary;
  readonly request: Json;
  /** What stands once a call that writes is made; undefined for calls that read. */
  readonly did: ((answer: never) => string) | undefined;
}

/** What a task asks of whoever runs it. A task does nothing by itself. */
export type Step =
  | OperationCall
  | { readonly kind: "pause"; readonly milliseconds: number }
  | { readonly kind: "image"; readonly address: string }
  | { readonly kind: "check"; readonly method: DescMethodUnary; readonly request: Json };

/** The steps up to a result. Each is answered before the next is asked for; a refused call throws its CallError. */
export type Steps<Result> = Generator<Step, Result, unknown>;

/** What a task makes of the answers. */
export interface TaskResult<Result> {
  readonly result: Result;
  /** What matters of the result, in lines for a model. */
  readonly text: readonly string[];
  readonly images?: readonly (Image | undefined)[];
}

/** One task: the operations that it may call, and which it calls with which requests. */
export interface Task {
  /** The RPC of `signpost.tasks.v1.TasksService` that describes the task. */
  readonly method: DescMethodUnary;
  /** All operations that it may call: a grant that lacks the scope of one does not see the task. */
  readonly operations: readonly DescMethodUnary[];
  readonly steps: (request: never, now: Date) => Steps<TaskResult<unknown>>;
}

/** Describes a task; the compiler checks that its steps take the request and give the result of its RPC. */
export function defineTask<Input extends DescMessage, Output extends DescMessage>(
  method: DescMethodUnary<Input, Output>,
  operations: readonly DescMethodUnary[],
  steps: (request: MessageShape<Input>, now: Date) => Steps<TaskResult<MessageInitShape<Output>>>,
): Task {
  return { method, operations, steps };
}

/** Asks for a call that reads. */
export function read<Output extends DescMessage>(
  what: string,
  method: DescMethodUnary<DescMessage, Output>,
  request: Json,
): Steps<MessageShape<Output>> {
  return ask({ kind: "call", what, method, request, did: undefined });
}

/** Asks for a call that writes; `did` says what stands afterwards. */
export function write<Output extends DescMessage>(
  what: string,
  method: DescMethodUnary<DescMessage, Output>,
  request: Json,
  did: (answer: MessageShape<Output>) => string,
): Steps<MessageShape<Output>> {
  return ask({ kind: "call", what, method, request, did });
}

function* ask<Answer>(call: OperationCall): Steps<Answer> {
  // The runner answers a call with a message of the method's output.
  return (yield call) as Answer;
}

/** The faults for which an operation would refuse a request by the rules of its fields. It is not called. */
export function* faultsIn(method: DescMethodUnary, request: Json): Steps<readonly FieldViolation[]> {
  // The runner answers with the faults.
  return (yield { kind: "check", method, request }) as readonly FieldViolation[];
}

/** Asks for an image of the service by its address. */
export function* readImage(address: string): Steps<Image | undefined> {
  if (address === "") return undefined;
  // The runner answers with the image.
  return (yield { kind: "image", address }) as Image | undefined;
}

/** Waits, for work that goes on in the background. */
export function* pause(milliseconds: number): Steps<void> {
  yield { kind: "pause", milliseconds };
}
