import { setTimeout as pause } from "node:timers/promises";
import type { DescMessage } from "@bufbuild/protobuf";
import { splitWords } from "../../model/operation-names.ts";
import { exitCodes, RefusedError } from "../outcome.ts";
import { displayText } from "./answer-fields.ts";
import type { Ask, ServiceAnswer } from "./ask.ts";
import { isJsonObject } from "./flag-values.ts";
import { answerSchema, type Command, findGroupName, loadGroup } from "./groups.ts";
import { restCall } from "./request.ts";

/** A kind of message that can be followed until it is finished, and the operation that reads it by its id. */
export interface Watch {
  readonly schema: DescMessage;
  readonly reader: Command;
}

const defaultWaitSeconds = 1;

/** The first wait in seconds, which doubles until it is as long as the service advises: most work is done soon. */
const firstWaitSeconds = 0.1;

/**
 * Finds what can be waited for in the answers of an operation: a message with a `status_url`, which an operation of the
 * message's own group reads by its id. Undefined for operations that are done when they answer.
 */
export async function watchOf(command: Command): Promise<Watch | undefined> {
  const schema = answerSchema(command);
  if (!schema.fields.some(({ name }) => name === "status_url")) return undefined;
  const groupName = await findGroupName(splitWords(schema.name).join("-"));
  if (groupName === undefined) return undefined;
  const { commands } = await loadGroup(groupName);
  const reader = commands.find(
    (each) =>
      each.binding.httpMethod === "GET" &&
      each.binding.variables.length === 1 &&
      answerSchema(each) === schema,
  );
  return reader === undefined ? undefined : { schema, reader };
}

/** Reads the started work again and again, and returns the answer in which it is finished. */
export async function waitUntilFinished(
  ask: Ask,
  watch: Watch,
  started: ServiceAnswer,
  report: (text: string) => void,
): Promise<ServiceAnswer> {
  const status = watch.schema.fields.find(({ name }) => name === "status");
  let answer = started;
  let reported = "";
  let waitSeconds = firstWaitSeconds;
  while (answer.json.completedAt === undefined) {
    const state = status === undefined ? "" : displayText(status, answer.json[status.jsonName]);
    if (state !== reported) report(state);
    reported = state;
    await pause(Math.min(waitSeconds, answer.retryAfterSeconds ?? defaultWaitSeconds) * 1000);
    waitSeconds *= 2;
    answer = await readAgain(ask, watch, answer);
  }
  return answer;
}

/** Reads the started work once more. */
export function readAgain(ask: Ask, { reader }: Watch, { json }: ServiceAnswer): Promise<ServiceAnswer> {
  const [field] = reader.binding.variables[0]?.fields ?? [];
  return ask(restCall(reader.binding, { [field?.jsonName ?? "id"]: json.id }));
}

/** Throws a RefusedError if the finished work has failed. */
export function checkOutcome({ json }: ServiceAnswer): void {
  const { error } = json;
  if (!isJsonObject(error)) return;
  throw new RefusedError({
    reason: String(error.codeType),
    message: String(error.message),
    exitCode: exitCodes.other,
    fields: [],
    facts: {},
    requestId: undefined,
  });
}
