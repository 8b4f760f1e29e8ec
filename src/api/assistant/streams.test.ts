import { request } from "node:http";
import { expect, test } from "vitest";
import { AssistantContextType } from "../../../gen/signpost/v1/assistant_message_pb.js";
import { AssistantService } from "../../../gen/signpost/v1/assistant_service_pb.js";
import {
  beginStream,
  endStream,
  startModelServer,
  writeDelta,
} from "../../../test/support/assistant/model-server.ts";
import { startApi } from "../../../test/support/start-api.ts";
import { makers } from "../../../test/support/tenant-records.ts";

const server = await startModelServer();
const api = await startApi({ deps: { model: server.model } });
const workspace = await api.newWorkspace();
const { rest } = workspace;

const about = (contextId: string) => ({ contextType: "ASSISTANT_CONTEXT_TYPE_LINK", contextId });
const historyOf = async (contextId: string) =>
  (
    await rest(
      "GET",
      `/v1/assistant/conversation?contextType=ASSISTANT_CONTEXT_TYPE_LINK&contextId=${contextId}`,
    )
  ).json.messages;

/** The events of a stream: their names and their data. */
function eventsIn(text: string): [string, unknown][] {
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const [, name = "", data = ""] = /^(?:event: (\w+)\n)?data: (.*)$/s.exec(event) ?? [];
      return [name, JSON.parse(data)];
    });
}

test("over REST a stream tells the text in pieces, and then the whole answer", async () => {
  const linkId = await makers.link(api, workspace);
  server.play(() => ({ text: "A text that comes in many pieces." }));
  const body = { ...about(linkId), message: "Tell me" };
  const sent = await rest("POST", "/v1/assistant/message", body, { accept: "text/event-stream" });
  expect([sent.status, sent.headers["content-type"]]).toEqual([200, "text/event-stream"]);
  const events = eventsIn(sent.text);
  const pieces = events.slice(0, -1).map(([, data]) => (data as { text?: string }).text);
  expect(pieces.length).toBeGreaterThan(3);
  expect(pieces.join("")).toBe("A text that comes in many pieces.");
  const answer = {
    responseText: "A text that comes in many pieces.",
    appliedActions: [],
    contextUpdated: false,
    uiActions: [],
  };
  expect(events.at(-1)).toEqual(["", { answer }]);
});

test("a refusal before the first piece is an ordinary answer, and a failure after it is the last event", async () => {
  const linkId = await makers.link(api, workspace);
  const headers = { accept: "text/event-stream" };
  const refused = await rest("POST", "/v1/assistant/message", { ...about(linkId), message: "" }, headers);
  expect([refused.status, refused.json.error.codeType]).toEqual([400, "INVALID_ARGUMENT"]);
  server.play((_asked, res) => {
    res.writeHead(500).end("{}");
    return undefined;
  });
  const failed = await rest("POST", "/v1/assistant/message", { ...about(linkId), message: "Hi" }, headers);
  expect(eventsIn(failed.text).at(-1)).toMatchObject([
    "error",
    { error: { codeType: "ASSISTANT_UNAVAILABLE" } },
  ]);
  expect(await historyOf(linkId)).toEqual([]);
});

test("over gRPC the stream has the same parts", async () => {
  const contextId = await makers.link(api, workspace);
  server.play(() => ({ text: "A text that comes in many pieces." }));
  const contextType = AssistantContextType.LINK;
  const client = workspace.client(AssistantService);
  const parts = [];
  for await (const { part } of client.streamMessage({ contextType, contextId, message: "Tell me" }))
    parts.push(part);
  const last = parts.at(-1);
  const text = parts.map((part) => (part.case === "text" ? part.value : "")).join("");
  expect(text).toBe("A text that comes in many pieces.");
  expect(last).toMatchObject({ case: "answer", value: { responseText: text } });
  server.play((_asked, res) => {
    res.writeHead(429, { "retry-after": "7" }).end("{}");
    return undefined;
  });
  const failing = (async () => {
    for await (const _part of client.streamMessage({ contextType, contextId, message: "Again" }));
  })();
  await expect(failing).rejects.toMatchObject({ code: 14 });
  const unknown = (async () => {
    const other = crypto.randomUUID();
    for await (const _part of client.streamMessage({ contextType, contextId: other, message: "Hi" }));
  })();
  await expect(unknown).rejects.toMatchObject({ code: 5 });
});

test("a client that leaves finds the answer in the conversation, and a retry with its key answers it again", async () => {
  const linkId = await makers.link(api, workspace);
  const entered = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  server.play((_asked, res) => {
    beginStream(res);
    writeDelta(res, { content: "It took a while. " });
    entered.resolve();
    void leave.promise.then(() => {
      writeDelta(res, { content: "Done." });
      endStream(res, "stop");
    });
    return undefined;
  });
  const before = server.asked.length;
  const body = JSON.stringify({ ...about(linkId), message: "Take your time" });
  const headers = {
    authorization: `Bearer ${workspace.token}`,
    "content-type": "application/json",
    "idempotency-key": "left",
  };
  const req = request({
    host: "127.0.0.1",
    port: api.port,
    method: "POST",
    path: "/v1/assistant/message",
    headers,
  });
  req.on("error", () => {});
  req.end(body);
  await entered.promise;
  req.destroy();
  leave.resolve();
  await expect.poll(() => historyOf(linkId), { timeout: 30_000 }).toHaveLength(2);
  const again = await rest("POST", "/v1/assistant/message", body, { "idempotency-key": "left" });
  expect(again.headers["idempotent-replayed"]).toBe("true");
  expect(again.json.responseText).toBe("It took a while. Done.");
  expect([server.asked.length - before, (await historyOf(linkId)).length]).toEqual([1, 2]);
});
