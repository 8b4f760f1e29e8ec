import { expect, test } from "vitest";
import { AssistantContextType } from "../../../gen/signpost/v1/assistant_message_pb.js";
import { AssistantService } from "../../../gen/signpost/v1/assistant_service_pb.js";
import { startModelServer, textOf } from "../../../test/support/assistant/model-server.ts";
import { middleOfMonth, tickingClock } from "../../../test/support/clock.ts";
import { onePixel } from "../../../test/support/one-pixel.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { makers } from "../../../test/support/tenant-records.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { newId } from "../../lib/ids.ts";
import { readPlanTable } from "../../model/plans/read-plan-table.ts";

const server = await startModelServer();
const clock = tickingClock(middleOfMonth());
const plans = readPlanTable({}, true, []);
const entitlements = createEntitlements({ plans, now: clock.now });
const api = await startApi({ clock, deps: { model: server.model, plans, entitlements } });
const { db } = api;
const withoutModel = await startApi({ database: api.database, deps: { model: undefined } });

const contextType = "ASSISTANT_CONTEXT_TYPE_LINK";
const minuteMs = 60_000;

async function conversation(workspace?: TestWorkspace) {
  const owner = workspace ?? (await api.newWorkspace());
  const contextId = await makers.link(api, owner);
  const path = `/v1/assistant/conversation?contextType=${contextType}&contextId=${contextId}`;
  return {
    ...owner,
    contextId,
    path,
    send: (message: string, headers = {}) =>
      owner.rest("POST", "/v1/assistant/message", { contextType, contextId, message }, headers),
    history: async () => (await owner.rest("GET", path)).json.messages,
    credits: async () => {
      const row = await db
        .selectFrom("credit_accounts")
        .select("used")
        .where("workspace_id", "=", owner.workspaceId)
        .executeTakeFirst();
      return Number(row?.used ?? 0n);
    },
  };
}

const setPlan = (workspaceId: string) =>
  db
    .updateTable("workspaces")
    .set({ subscription_type: "UNSPECIFIED" })
    .where("id", "=", workspaceId)
    .execute();

/** A workspace of the smallest plan, before its plan was read. */
async function freeConversation() {
  const workspace = await api.newWorkspace();
  await setPlan(workspace.workspaceId);
  return conversation(workspace);
}

test("an answer costs one credit, and a retry with its key costs nothing and asks no model", async () => {
  const { send, credits, history } = await conversation();
  server.play(() => ({ text: "Yes." }));
  const [before, asked] = [await credits(), server.asked.length];
  const headers = { "idempotency-key": "once" };
  const [first, again] = [await send("Is it so?", headers), await send("Is it so?", headers)];
  expect([first.status, again.status, again.json]).toEqual([200, 200, first.json]);
  expect(again.headers["idempotent-replayed"]).toBe("true");
  expect([(await credits()) - before, server.asked.length - asked]).toEqual([1, 1]);
  expect(await history()).toHaveLength(2);
});

test("without a credit, or with too many messages in a minute, nothing is asked, stored or charged", async () => {
  clock.advance(minuteMs - (clock.now().getTime() % minuteMs));
  const { send, credits, history, workspaceId } = await freeConversation();
  server.play(() => ({ text: "Yes." }));
  for (const _ of [1, 2, 3]) expect((await send("Hi")).status).toBe(200);
  const asked = server.asked.length;
  const used = await credits();
  const refused = await send("Hi");
  expect([refused.status, refused.json.error.codeType]).toEqual([429, "PLAN_LIMIT_REACHED"]);
  const wait = Number(refused.headers["retry-after"]);
  expect(wait > 0 && wait <= 60).toBe(true);
  clock.advance(minuteMs);
  expect((await send("Hi")).status).toBe(200);
  await db
    .updateTable("credit_accounts")
    .set({ used: 20n })
    .where("workspace_id", "=", workspaceId)
    .execute();
  const poor = await send("Hi");
  expect([poor.status, poor.json.error.codeType]).toEqual([429, "INSUFFICIENT_CREDITS"]);
  expect([server.asked.length - asked, (await history()).length, await credits()]).toEqual([1, 8, 20]);
  expect(used).toBe(5);
});

test("without a model every message is refused with 503, and nothing is written", async () => {
  const { contextId, history, token } = await conversation();
  const body = { contextType, contextId, message: "Hi" };
  const refused = await withoutModel.rest(token)("POST", "/v1/assistant/message", body);
  expect([refused.status, refused.json.error.codeType]).toEqual([503, "ASSISTANT_UNAVAILABLE"]);
  expect(await history()).toEqual([]);
});

test("reading marks the assistant's messages for everybody, once", async () => {
  const { send, rest, contextId, path, history, client } = await conversation();
  server.play(() => ({ text: "Yes." }));
  await send("One");
  await send("Two");
  expect((await rest("GET", path)).json.unreadCount).toBe(2);
  const read = () => rest("POST", "/v1/assistant/conversation/read", { contextType, contextId });
  expect((await read()).json).toEqual({ markedCount: 2 });
  expect((await read()).json).toEqual({ markedCount: 0 });
  // biome-ignore lint/suspicious/noExplicitAny: messages of the answer
  const times = (await history()).map((message: any) => [message.sender, message.readAt !== undefined]);
  expect(times).toEqual([
    ["user", false],
    ["assistant", true],
    ["user", false],
    ["assistant", true],
  ]);
  const request = { contextType: AssistantContextType.LINK, contextId };
  expect(await client(AssistantService).getConversation(request)).toMatchObject({ unreadCount: 0 });
  await client(AssistantService).clearConversation(request);
  expect(await history()).toEqual([]);
  expect((await rest("DELETE", path)).status).toBe(200);
});

test("a conversation keeps its last 200 messages", async () => {
  const { send, history, contextId, workspaceId } = await conversation();
  const row = (index: number) => ({
    workspace_id: workspaceId,
    context_type: "LINK" as const,
    context_id: contextId,
    id: crypto.randomUUID(),
    is_from_user: true,
    text: `Message ${index}`,
    is_tainted: false,
    caller_id: "another",
    created_at: clock.now(),
  });
  const rows = Array.from({ length: 200 }, (_, index) => row(index));
  await db.insertInto("assistant_messages").values(rows).execute();
  server.play(() => ({ text: "The last." }));
  await send("Hi");
  const kept = await history();
  expect([kept.length, kept[0].text, kept[199].text]).toEqual([200, "Message 2", "The last."]);
});

test("a file goes with the sender's next message only, within five minutes", async () => {
  const { send, rest, history, workspaceId, contextId } = await conversation();
  const upload = (content: string, mimeType: string, name = "") =>
    rest("POST", "/v1/assistant/upload", {
      content: Buffer.from(content).toString("base64"),
      mimeType,
      name,
    });
  const files: number[] = [];
  server.play(({ messages }) => {
    const last = messages.at(-1);
    files.push(typeof last?.content === "object" ? (last.content?.length ?? 0) - 1 : 0);
    return { text: `I read ${last && textOf(last)}` };
  });
  expect((await upload("name\nAda\n", "text/csv", "guests.csv")).json).toMatchObject({
    mimeType: "text/csv",
    name: "guests.csv",
  });
  const picture = { content: onePixel, mimeType: "image/png", name: "dot.png" };
  expect((await rest("POST", "/v1/assistant/upload", picture)).status).toBe(200);
  const other = await api.scopedToken(workspaceId, ["assistant:write"]);
  await api.rest(other)("POST", "/v1/assistant/message", { contextType, contextId, message: "Hi" });
  expect((await send("What is in it?")).json.responseText).toContain("Ada");
  await send("And now?");
  await upload("late", "text/plain");
  clock.advance(5 * minuteMs);
  await send("And then?");
  expect(files).toEqual([0, 2, 0, 0]);
  expect((await history())[2].attachments).toEqual([
    { name: "guests.csv", mimeType: "text/csv" },
    { name: "dot.png", mimeType: "image/png" },
  ]);
  const rows = await db
    .selectFrom("assistant_uploads")
    .select("name")
    .where("workspace_id", "=", workspaceId)
    .execute();
  expect(rows.map(({ name }) => name)).toEqual(["file.txt"]);
});

test("a message takes no more files than its limits, however many came at once, and the next ones take the rest", async () => {
  const { send, workspaceId } = await conversation();
  const waiting = () =>
    db
      .selectFrom("assistant_uploads")
      .select("name")
      .where("workspace_id", "=", workspaceId)
      .orderBy("id")
      .execute();
  const files: number[] = [];
  server.play(({ messages }) => {
    const content = messages.at(-1)?.content;
    files.push(typeof content === "object" ? (content?.length ?? 0) - 1 : 0);
    return { text: "Read." };
  });
  await send("Who am I?");
  const { caller_id } = await db
    .selectFrom("assistant_messages")
    .select("caller_id")
    .where("workspace_id", "=", workspaceId)
    .limit(1)
    .executeTakeFirstOrThrow();
  const row = (name: string, content: Buffer) => {
    // Each id is later than the one before.
    clock.advance(1);
    return {
      ...{
        workspace_id: workspaceId,
        caller_id,
        id: newId(clock.now()),
        name,
        mime_type: "text/plain",
        content,
      },
      expires_at: new Date(clock.now().getTime() + minuteMs),
    };
  };
  const small = Array.from({ length: 6 }, (_, index) => row(`small ${index}`, Buffer.from("text")));
  await db.insertInto("assistant_uploads").values(small).execute();
  await send("One");
  expect(await waiting()).toHaveLength(1);
  const large = ["one", "two"].map((name) => row(name, Buffer.alloc(11 * 1024 * 1024, "x")));
  await db.insertInto("assistant_uploads").values(large).execute();
  await send("Two");
  await send("Three");
  expect([files, await waiting()]).toEqual([[0, 5, 2, 1], []]);
});

test("wrong messages and files are refused, and nothing is written", async () => {
  const { rest, contextId, history, client, workspaceId } = await conversation();
  const message = { contextType, contextId, message: "Hi" };
  const wrong = [
    { ...message, message: " " },
    { ...message, message: "x".repeat(8_001) },
    { ...message, contextMetadata: "{" },
    { ...message, contextMetadata: JSON.stringify("x".repeat(16_384)) },
    { ...message, contextType: "ASSISTANT_CONTEXT_TYPE_UNSPECIFIED" },
    { ...message, contextId: "no id" },
  ];
  for (const body of wrong) expect((await rest("POST", "/v1/assistant/message", body)).status).toBe(400);
  const unknown = { ...message, contextId: crypto.randomUUID() };
  expect((await rest("POST", "/v1/assistant/message", unknown)).status).toBe(404);
  const foreign = { ...message, contextType: "ASSISTANT_CONTEXT_TYPE_WORKSPACE" };
  expect((await rest("POST", "/v1/assistant/message", foreign)).status).toBe(404);
  const files = [
    { content: Buffer.from([0, 1, 2]).toString("base64"), mimeType: "text/plain" },
    { content: Buffer.from("%PDF-1.4").toString("base64"), mimeType: "text/plain; no" },
    { content: onePixel, mimeType: "application/pdf" },
    { content: Buffer.from("PK\u0003\u0004").toString("base64"), mimeType: "application/zip" },
    { content: "", mimeType: "text/plain" },
  ];
  const assistant = client(AssistantService);
  for (const file of files) {
    expect((await rest("POST", "/v1/assistant/upload", file)).status).toBe(400);
    const content = Buffer.from(file.content, "base64");
    await expect(assistant.uploadFile({ ...file, content })).rejects.toMatchObject({ code: 3 });
  }
  const waiting = db.selectFrom("assistant_uploads").select("id").where("workspace_id", "=", workspaceId);
  expect([await history(), await waiting.execute()]).toEqual([[], []]);
});

test("a deletion is offered, and done once, for the caller who saw it, exactly as it was shown", async () => {
  const { send, rest, contextId, workspaceId } = await conversation();
  server.play(({ messages }) =>
    messages.at(-1)?.role === "tool" ? { text: "I can delete it." } : { calls: [["links_delete", {}]] },
  );
  const { json } = await send("Delete this link");
  expect([json.appliedActions, json.contextUpdated]).toEqual([[], false]);
  const [button] = json.uiActions;
  expect(json.responseText).toContain(`"id": "${contextId}"`);
  expect(button).toMatchObject({ type: "button", label: expect.stringContaining(contextId) });
  const other = await api.scopedToken(workspaceId, ["assistant:write", "links:write"]);
  const body = { contextType, contextId, message: button.value };
  expect((await api.rest(other)("POST", "/v1/assistant/message", body)).status).toBe(404);
  const asked = server.asked.length;
  const [one, two] = await Promise.all([send(button.value), send(button.value)]);
  const statuses = [one.status, two.status].sort();
  expect(statuses).toEqual([200, 404]);
  expect([one, two].find(({ status }) => status === 200)?.json).toMatchObject({
    appliedActions: ["links_delete"],
    contextUpdated: true,
  });
  expect(server.asked.length).toBe(asked);
  expect((await rest("GET", `/v1/links/${contextId}`)).status).toBe(404);
});

test("an offer ends after 15 minutes, and with its conversation", async () => {
  const { send, rest, path, contextId } = await conversation();
  server.play(({ messages }) =>
    messages.at(-1)?.role === "tool" ? { text: "I can." } : { calls: [["links_delete", {}]] },
  );
  const late = (await send("Delete")).json.uiActions[0].value;
  clock.advance(15 * minuteMs);
  expect((await send(late)).status).toBe(404);
  const cleared = (await send("Delete")).json.uiActions[0].value;
  await rest("DELETE", path);
  expect((await send(cleared)).status).toBe(404);
  expect((await rest("GET", `/v1/links/${contextId}`)).status).toBe(200);
});

test("the assistant has the caller's scopes and no others, and touches no record but the conversation's", async () => {
  const { workspaceId, contextId, rest, path, ...workspace } = await conversation();
  const other = await makers.link(api, { rest, workspaceId, ...workspace });
  const token = await api.scopedToken(workspaceId, ["assistant:write", "links:read"]);
  const told: string[] = [];
  server.play(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role !== "tool") return { calls: [["links_update", { id: other, name: "Taken" }]] };
    told.push(textOf(last));
    return { text: "Tried." };
  });
  const body = { contextType, contextId, message: "Rename" };
  const narrow = await api.rest(token)("POST", "/v1/assistant/message", body);
  expect(narrow.json.appliedActions).toEqual([]);
  expect(told[0]).toMatch(/links:write/);
  await rest("DELETE", path);
  const wide = await rest("POST", "/v1/assistant/message", body);
  expect(wide.json.appliedActions).toEqual(["links_update"]);
  const names = await Promise.all(
    [contextId, other].map(async (id) => (await rest("GET", `/v1/links/${id}`)).json.link.name),
  );
  expect([names[0], names[1] === "Taken"]).toEqual(["Taken", false]);
});
