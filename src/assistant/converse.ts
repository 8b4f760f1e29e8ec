import type { DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { CallError } from "../lib/errors.ts";
import { type Model, ModelFault, type Reply, type Said, type ToolCall, type ToolResult } from "./model.ts";
import { type Offer, offeredMax, offersMax, shownRequest } from "./offers.ts";
import { addressesIn, createPlainer } from "./plain-text.ts";
import type { Tool } from "./tools.ts";
import { holdsTexts, judge } from "./trust.ts";

/** One message of the caller and what a model needs to answer it. */
export interface Turn {
  readonly instructions: string;
  /** The conversation so far, with the message at its end. */
  readonly said: readonly Said[];
  readonly tools: ReadonlyMap<string, Tool>;
  /** Whether texts of strangers are in what was said. */
  readonly isTainted: boolean;
}

/** What a turn reaches. */
export interface Reach {
  readonly model: Model;
  /** Makes a call as the caller, and returns the answer as JSON. Throws the CallError that refuses it. */
  readonly act: (
    tool: Tool,
    request: JsonObject,
  ) => Promise<{ readonly desc: DescMessage; readonly json: JsonValue }>;
  readonly isOwnHost: (host: string) => boolean;
  /** Gets the answer while it is made. */
  readonly onText: (text: string) => void;
  /** How long the model may take in all, in milliseconds. */
  readonly timeoutMs: number;
}

/** What came of a turn. */
export interface Answer {
  readonly text: string;
  /** The tools that have changed something, once for each change. */
  readonly changes: readonly string[];
  readonly offers: readonly Offer[];
  readonly isTainted: boolean;
  /** Whether the model has answered. If not, something was changed before it failed. */
  readonly isAnswered: boolean;
}

/** How often a model is asked for one message, how many tools it may use, and how much of a result it reads. */
export const turnLimits = { rounds: 8, calls: 16, resultCharacters: 12_000 } as const;

interface Progress {
  readonly said: Said[];
  readonly changes: string[];
  readonly offers: Offer[];
  readonly given: Set<string>;
  calls: number;
  isTainted: boolean;
}

/**
 * Lets a model answer a message. It may use its tools as far as `judge` lets it. Throws a `ModelFault` when the model fails and
 * nothing was changed; once something was changed, the caller is told so instead.
 */
export async function converse(turn: Turn, reach: Reach): Promise<Answer> {
  const given = new Set(turn.said.flatMap(addressesOf));
  const progress: Progress = {
    ...{ said: [...turn.said], changes: [], offers: [], given },
    ...{ calls: 0, isTainted: turn.isTainted },
  };
  const plainer = createPlainer(reach.isOwnHost, (address) => given.has(address));
  let text = "";
  const show = (piece: string) => {
    text += piece;
    if (piece !== "") reach.onText(piece);
  };
  const signal = AbortSignal.timeout(reach.timeoutMs);
  let isAnswered = false;
  try {
    for (let round = 1; !isAnswered; round++) {
      const isLast = round === turnLimits.rounds || progress.calls >= turnLimits.calls;
      const onText = (piece: string) => show(plainer.push(piece));
      const tools = isLast ? [] : [...turn.tools.values()];
      const question = { instructions: turn.instructions, said: progress.said, tools };
      const reply = await reach.model.reply(question, { signal, onText });
      show(plainer.end());
      if (reply.isCut) show(" …");
      isAnswered = reply.calls.length === 0;
      if (isAnswered && reply.text.trim() === "" && progress.offers.length === 0)
        throw new ModelFault("garbled", "the model's answer is empty");
      if (!isAnswered && isLast) throw new ModelFault("garbled", "the model uses tools and comes to no end");
      if (!isAnswered) await useTools(turn, reach, progress, reply);
      if (!isAnswered && reply.text !== "") show("\n\n");
    }
  } catch (error) {
    const fault = signal.aborted ? new ModelFault("late", "the model took too long") : error;
    if (!(fault instanceof ModelFault) || progress.changes.length === 0) throw fault;
    isAnswered = false;
    show(plainer.end());
    show(
      `${text === "" ? "" : "\n\n"}The assistant has stopped. It has changed: ${progress.changes.join(", ")}.`,
    );
  }
  const { changes, offers, isTainted } = progress;
  return { text: text.trim(), changes, offers, isTainted, isAnswered };
}

function addressesOf(said: Said): string[] {
  if (said.by === "tools") return said.results.flatMap((result) => addressesIn(result.text));
  return addressesIn(said.text);
}

/** Uses the tools one after the other: a result may taint the next call. */
async function useTools(
  { tools }: Turn,
  reach: Reach,
  progress: Progress,
  { text, calls }: Reply,
): Promise<void> {
  const results: ToolResult[] = [];
  for (const call of calls) {
    progress.calls++;
    const said = await useTool(tools, reach, progress, call);
    for (const address of addressesIn(said)) progress.given.add(address);
    results.push({ id: call.id, name: call.name, text: said });
  }
  progress.said.push({ by: "assistant", text, calls }, { by: "tools", results });
}

/** Uses a tool, and returns what the model is told of it. */
async function useTool(
  tools: ReadonlyMap<string, Tool>,
  reach: Reach,
  progress: Progress,
  { name, input }: ToolCall,
): Promise<string> {
  if (progress.calls > turnLimits.calls) return "error: no more tools for this message; answer now";
  const tool = tools.get(name);
  if (tool === undefined) return `error: there is no such tool; use one of ${[...tools.keys()].join(", ")}`;
  const given = parseObject(input);
  if (given === undefined) return "error: the arguments are no JSON object";
  const request = withPins(tool, given);
  if (judge(tool.kind, progress.isTainted) === "offer") return offer(progress, tool, request);
  try {
    const { desc, json } = await reach.act(tool, request);
    if (tool.kind !== "read") progress.changes.push(tool.name);
    if (holdsTexts(desc, json)) progress.isTainted = true;
    const text = JSON.stringify(json);
    if (text.length <= turnLimits.resultCharacters) return text;
    return `${text.slice(0, turnLimits.resultCharacters)}… (cut: ask for less)`;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    // A refusal of the request's form quotes the model alone. Others may quote what is stored.
    if (error.code !== "INVALID_ARGUMENT" && error.code !== "PERMISSION_DENIED") progress.isTainted = true;
    return `error ${error.reason}: ${error.message}`;
  }
}

/** The request of a call: what the record decides stands in place of what the model gave, under whichever name. */
function withPins({ method, pinned }: Tool, given: JsonObject): JsonObject {
  const isPinned = (name: string) =>
    method.input.fields.some(
      (field) => Object.hasOwn(pinned, field.jsonName) && (field.name === name || field.jsonName === name),
    );
  return { ...Object.fromEntries(Object.entries(given).filter(([name]) => !isPinned(name))), ...pinned };
}

function offer({ offers }: Progress, { name, title }: Tool, request: JsonObject): string {
  if (offers.length === offersMax) return "error: too much is offered already; answer now";
  if (shownRequest(request).length > offeredMax)
    return "error: too long for people to confirm; change less at once";
  offers.push({ tool: name, title, request });
  return "offered to the user, not done: a button below your answer does it";
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(text === "" ? "{}" : text);
    // JSON.parse gives JSON, and what is an object and no list is one of JSON's.
    return typeof json === "object" && json !== null && !Array.isArray(json)
      ? (json as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}
