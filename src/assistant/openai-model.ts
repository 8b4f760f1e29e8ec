import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { boundedFetch } from "./bounded-fetch.ts";
import {
  type Model,
  ModelFault,
  type Question,
  type Reply,
  replyLimits,
  type Said,
  type ToolCall,
} from "./model.ts";
import type { ModelConfig } from "./open-model.ts";

type LanguageModel = ReturnType<ReturnType<typeof createOpenAICompatible>["chatModel"]>;
type CallOptions = Parameters<LanguageModel["doStream"]>[0];
type Prompt = CallOptions["prompt"];
type StreamPart =
  Awaited<ReturnType<LanguageModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;

/**
 * A model behind an OpenAI-compatible address. Only the provider of the AI SDK is used: the SDK's own loop would run tools
 * before anybody could judge whether the model may.
 */
export function createOpenaiModel({ baseUrl, name, apiKey, silenceMs = 30_000 }: ModelConfig): Model {
  const provider = createOpenAICompatible({
    name: "llm",
    baseURL: baseUrl,
    ...(apiKey === undefined ? {} : { apiKey }),
    fetch: boundedFetch({ bytes: replyLimits.bytes, silenceMs }),
  });
  const model = provider.chatModel(name);
  return {
    async reply(question, { signal, onText }) {
      // Whatever ends the reading also ends the request.
      const reading = new AbortController();
      const options = optionsOf(question, AbortSignal.any([signal, reading.signal]));
      try {
        const { stream } = await model.doStream(options);
        return await readReply(stream, onText);
      } catch (error) {
        signal.throwIfAborted();
        throw faultOf(error);
      } finally {
        reading.abort();
      }
    },
  };
}

function optionsOf({ instructions, said, tools }: Question, abortSignal: AbortSignal): CallOptions {
  return {
    prompt: [{ role: "system", content: instructions }, ...said.map(messageOf)],
    maxOutputTokens: replyLimits.tokens,
    abortSignal,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: "function" as const,
        name,
        description,
        inputSchema,
      })),
    }),
  };
}

function messageOf(said: Said): Prompt[number] {
  switch (said.by) {
    case "user":
      return {
        role: "user",
        content: [
          { type: "text", text: said.text },
          ...said.files.map(({ name, mimeType, bytes }) => ({
            type: "file" as const,
            filename: name,
            mediaType: mimeType,
            data: { type: "data" as const, data: bytes },
          })),
        ],
      };
    case "assistant":
      return {
        role: "assistant",
        content: [
          ...(said.text === "" ? [] : [{ type: "text" as const, text: said.text }]),
          ...said.calls.map(({ id, name, input, memo }) => ({
            type: "tool-call" as const,
            toolCallId: id,
            toolName: name,
            input,
            ...(isMemo(memo) && { providerOptions: memo }),
          })),
        ],
      };
    case "tools":
      return {
        role: "tool",
        content: said.results.map(({ id, name, text }) => ({
          type: "tool-result" as const,
          toolCallId: id,
          toolName: name,
          output: { type: "text" as const, value: text },
        })),
      };
  }
}

type Memo = NonNullable<Extract<StreamPart, { type: "tool-call" }>["providerMetadata"]>;

function isMemo(memo: unknown): memo is Memo {
  return typeof memo === "object" && memo !== null;
}

async function readReply(
  stream: ReadableStream<StreamPart>,
  onText: ((text: string) => void) | undefined,
): Promise<Reply> {
  let text = "";
  const calls: ToolCall[] = [];
  for await (const part of stream) {
    if (part.type === "error") throw faultOf(part.error);
    if (part.type === "text-delta") {
      const delta = part.delta.slice(0, replyLimits.text - text.length);
      text += delta;
      if (delta !== "") onText?.(delta);
      if (delta.length < part.delta.length) return { text, calls, isCut: true };
    }
    if (part.type === "tool-call") {
      if (part.input.length > replyLimits.input || calls.length === replyLimits.calls)
        throw new ModelFault("garbled", "the model called too many tools, or one with too much");
      const { toolCallId, toolName, input, providerMetadata } = part;
      calls.push({ id: toolCallId, name: toolName, input, memo: providerMetadata });
    }
    if (part.type === "finish") return { text, calls, isCut: part.finishReason.unified === "length" };
  }
  throw new ModelFault("garbled", "the model's answer has no end");
}

/** The fault of whatever the library threw. Its own messages quote the conversation, and are dropped. */
function faultOf(error: unknown): ModelFault {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ModelFault) return cause;
  }
  const status = statusOf(error);
  if (status === 429) return new ModelFault("busy", "the model's server answered 429", retryAfterOf(error));
  if (status !== undefined && status >= 400)
    return new ModelFault("away", `the model's server answered ${status}`, retryAfterOf(error));
  if (status === undefined && isUnreachable(error))
    return new ModelFault("away", "the model's server cannot be reached");
  const kind = error instanceof Error ? error.name : typeof error;
  return new ModelFault("garbled", `the model's answer cannot be read: ${kind}`);
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("statusCode" in error)) return undefined;
  return typeof error.statusCode === "number" ? error.statusCode : undefined;
}

function isUnreachable(error: unknown): boolean {
  return error instanceof Error && "isRetryable" in error && error.isRetryable === true;
}

const retryAfterMax = 3_600;

function retryAfterOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("responseHeaders" in error)) return undefined;
  const headers = error.responseHeaders;
  if (typeof headers !== "object" || headers === null || !("retry-after" in headers)) return undefined;
  const seconds = Number(headers["retry-after"]);
  return Number.isInteger(seconds) && seconds > 0 ? Math.min(seconds, retryAfterMax) : undefined;
}
