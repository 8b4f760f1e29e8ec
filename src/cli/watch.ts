import { setTimeout as pause } from "node:timers/promises";
import type { DescMessage } from "@bufbuild/protobuf";
import { type Part, textOf } from "./answer-fields.ts";
import { type Answer, type Ask, detailsOf } from "./ask.ts";
import { isJsonObject } from "./flag-values.ts";
import { isNested } from "./flags.ts";
import { answerSchema, type Command, findGroupName, loadGroup } from "./groups.ts";
import { wordsOf } from "./names.ts";
import { exitCodeOf, RefusedError } from "./outcome.ts";
import { restCall } from "./request.ts";

/** A message that is followed until it is finished, and the operation that reads it by its id. */
export interface Watch {
  readonly schema: DescMessage;
  readonly reader: Command;
}

const defaultWaitSeconds = 1;

/**
 * What can be waited for in the answers of an operation: a message that says when it finished, in whose own group an
 * operation reads one. Undefined for operations that are done when they answer.
 */
export async function watchOf(command: Command): Promise<Watch | undefined> {
  const schema = [command.method.output, ...messagesIn(command.method.output)].find((message) =>
    message.fields.some(({ name }) => name === "finished_at"),
  );
  const groupName = schema === undefined ? undefined : await findGroupName(wordsOf(schema.name).join("-"));
  if (schema === undefined || groupName === undefined) return undefined;
  const { commands } = await loadGroup(groupName);
  const reader = commands.find(
    ({ binding, method }) =>
      binding.httpMethod === "GET" &&
      binding.variables.length === 1 &&
      messagesIn(method.output).includes(schema),
  );
  return reader === undefined ? undefined : { schema, reader };
}

function messagesIn(output: DescMessage): DescMessage[] {
  return output.fields.flatMap((field) => (isNested(field) ? [field.message] : []));
}

/** Reads what an answer has begun again and again, and returns the answer in which it is finished. */
export async function waitUntilFinished(
  ask: Ask,
  { schema, reader }: Watch,
  started: { readonly command: Command; readonly answer: Answer },
  report: (text: string) => void,
): Promise<Answer> {
  let { answer } = started;
  let part = partOf(answerSchema(started.command), answer, schema);
  let reported = "";
  while (part.json.finishedAt === undefined) {
    const progress = progressOf(part);
    if (progress !== reported) report(progress);
    reported = progress;
    await pause((answer.retryAfterSeconds ?? defaultWaitSeconds) * 1000);
    const [field] = reader.binding.variables[0]?.fields ?? [];
    answer = await ask(restCall(reader.binding, { [field?.jsonName ?? "id"]: part.json.id }));
    part = partOf(answerSchema(reader), answer, schema);
  }
  return answer;
}

/** Throws a RefusedError with the error that finished work has failed with, if it has. */
export function checkOutcome({ schema }: Watch, whole: DescMessage, answer: Answer): void {
  const { error } = partOf(whole, answer, schema).json;
  if (!isJsonObject(error)) return;
  throw new RefusedError({
    reason: String(error.codeType),
    message: String(error.message),
    exitCode: exitCodeOf(Number(error.code)),
    ...detailsOf(error.details),
    requestId: undefined,
  });
}

/** The watched message in an answer: all of it, or one of its fields. */
function partOf(whole: DescMessage, { json }: Answer, schema: DescMessage): Part {
  if (whole === schema) return { schema, json };
  const field = whole.fields.find((each) => isNested(each) && each.message === schema);
  const inner = field === undefined ? undefined : json[field.jsonName];
  return { schema, json: isJsonObject(inner) ? inner : {} };
}

/** How far it is, from whatever of it is a state or a count: `RUNNING 20/100`. */
function progressOf({ schema, json }: Part): string {
  const state = schema.fields.find(({ name }) => name === "status");
  const { progress } = json;
  const counts = isJsonObject(progress) ? ` ${progress.done}/${progress.total}` : "";
  return `${state === undefined ? "" : textOf(state, json[state.jsonName])}${counts}`;
}
