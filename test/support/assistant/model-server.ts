import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";
import { openModel } from "../../../src/assistant/open-model.ts";

/** One message of a request, as OpenAI's API has it. */
export interface AskedMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content:
    | string
    | null
    | readonly {
        readonly type: string;
        readonly text?: string;
        readonly file?: { readonly file_data: string };
        readonly image_url?: { readonly url: string };
      }[];
}

/** A request for an answer, as far as tests look at it. */
export interface Asked {
  readonly model: string;
  readonly messages: readonly AskedMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** What the server answers. */
export interface Said {
  readonly text?: string;
  /** Names of tools with their arguments: an object, or the bare text of a model that writes no JSON. */
  readonly calls?: readonly (readonly [name: string, input: object | string])[];
}

/** Answers a request with what a model says, or by itself. */
export type Script = (asked: Asked, res: ServerResponse) => Said | undefined;

/**
 * A server that speaks the protocol of OpenAI-compatible models, and says what a script says. The service takes a server for dead
 * that is silent for `silenceMs`, which is long, so that a busy machine is no silence.
 */
export async function startModelServer({ silenceMs = 60_000 }: { readonly silenceMs?: number } = {}) {
  let script: Script = () => ({ text: "Hello." });
  const asked: Asked[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const request: Asked = JSON.parse(Buffer.concat(chunks).toString());
    asked.push(request);
    const said = script(request, res);
    if (said === undefined) return;
    beginStream(res);
    for (const piece of (said.text ?? "").match(/.{1,7}/gsu) ?? []) writeDelta(res, { content: piece });
    for (const [index, [name, input]] of (said.calls ?? []).entries()) {
      const args = typeof input === "string" ? input : JSON.stringify(input);
      const call = { index, id: `call_${asked.length}_${index}`, type: "function" };
      writeDelta(res, { tool_calls: [{ ...call, function: { name, arguments: args.slice(0, 5) } }] });
      writeDelta(res, { tool_calls: [{ index, function: { arguments: args.slice(5) } }] });
    }
    endStream(res, (said.calls ?? []).length > 0 ? "tool_calls" : "stop");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  return {
    baseUrl,
    /** The service's own client of this server. */
    model: openModel({ baseUrl, name: "scripted", apiKey: "a key", silenceMs }),
    /** Every request so far. */
    asked,
    /** From now on the server answers so. */
    play(next: Script) {
      script = next;
    },
  };
}

export function beginStream(res: ServerResponse): void {
  res.writeHead(200, { "content-type": "text/event-stream" });
}

export function writeDelta(res: ServerResponse, delta: object, finish: string | null = null): void {
  const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "scripted" };
  res.write(
    `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
  );
}

export function endStream(res: ServerResponse, finish: string): void {
  writeDelta(res, {}, finish);
  res.end("data: [DONE]\n\n");
}

/** The text of a message. */
export function textOf({ content }: AskedMessage): string {
  if (content === null || typeof content === "string") return content ?? "";
  return content.map(({ text }) => text ?? "").join("\n");
}
