import { expect, test } from "vitest";
import { startModelServer, textOf } from "../../../test/support/assistant/model-server.ts";
import { startApi } from "../../../test/support/start-api.ts";
import { makers } from "../../../test/support/tenant-records.ts";

const server = await startModelServer();
const api = await startApi({ deps: { model: server.model } });
const workspace = await api.newWorkspace();
const { rest } = workspace;

async function newLink() {
  const linkId = await makers.link(api, workspace);
  return { linkId, context: { contextType: "ASSISTANT_CONTEXT_TYPE_LINK", contextId: linkId } };
}

test("a message is answered, and both are part of the conversation", async () => {
  const { context } = await newLink();
  server.play(({ messages }) => ({
    text: `You said: ${textOf(messages.at(-1) ?? { role: "user", content: "" })}`,
  }));
  const sent = await rest("POST", "/v1/assistant/message", { ...context, message: "Hello there" });
  expect(sent.json).toEqual({
    responseText: "You said: Hello there",
    appliedActions: [],
    contextUpdated: false,
    uiActions: [],
  });
  const { json } = await rest(
    "GET",
    `/v1/assistant/conversation?contextType=${context.contextType}&contextId=${context.contextId}`,
  );
  expect(json).toMatchObject({
    messages: [
      { sender: "user", text: "Hello there" },
      { sender: "assistant", text: "You said: Hello there" },
    ],
    unreadCount: 1,
  });
});

test("the assistant changes what the caller asks for, and names each change", async () => {
  const { linkId, context } = await newLink();
  server.play(({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? { text: "Renamed." }
      : { calls: [["links_update", { name: "Winter" }]] },
  );
  const sent = await rest("POST", "/v1/assistant/message", { ...context, message: "Call it Winter" });
  expect(sent.json).toEqual({
    responseText: "Renamed.",
    appliedActions: ["links_update"],
    contextUpdated: true,
    uiActions: [],
  });
  expect((await rest("GET", `/v1/links/${linkId}`)).json.link.name).toBe("Winter");
});
