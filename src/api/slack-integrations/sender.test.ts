import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { shownText, textsOf } from "../../../test/support/slack/block-kit.ts";
import { startSlack } from "../../../test/support/slack/stand-in.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { startTestScan } from "../../../test/support/start-scan.ts";
import { visitsThrough } from "../../../test/support/visits.ts";
import { createTokenBox } from "../../integrations/token-box.ts";
import { testContent } from "../../outbox/message-body.ts";
import { type Sending, startSending } from "../../outbox/send-loop.ts";
import type { Sender } from "../../outbox/sender.ts";
import { createSlackSender } from "./sender.ts";

const dayMs = 24 * 60 * 60 * 1000;
// The time of sending moves only when a test moves it; what was queued before is long due.
let sendingMs = Date.now() + dayMs;
const sendingTime = () => new Date(sendingMs);
const slack = await startSlack({ now: sendingTime });
afterAll(slack.close);
const tokenBox = createTokenBox(new Uint8Array(32).fill(7));
const api = await startApi({ deps: { slack: slack.client, tokenBox } });
const { db } = api;
const scan = await startTestScan(api.database, {}, afterAll);
const noWebhooks: Sender = { pace: { inFlightMax: 1 }, open: async () => new Map() };

let workspace: TestWorkspace;
let name: string;
let sending: Sending;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  name = `team ${workspace.workspaceId}`;
  const { json } = await workspace.rest("GET", "/v1/slack-integrations/oauth-url");
  const state = new URL(json.oauthUrl).searchParams.get("state");
  await workspace.rest("POST", "/v1/slack-integrations/oauth/complete", { code: `${name}.1`, state });
  await change({ slackChannelId: general().id });
  sending = start();
});
afterEach(() => sending.stop(5_000));

function start(): Sending {
  return startSending({
    db,
    senders: { WEBHOOK: noWebhooks, SLACK: createSlackSender({ db, slack: slack.client, tokenBox }) },
    shortUrl: "https://short.test",
    owner: randomUUID(),
    now: sendingTime,
    random: () => 0.5,
    onTrouble: (error) => expect.unreachable(String(error)),
    tickMs: 10,
  });
}

function general() {
  const [channel] = slack.team(name).channels;
  if (channel === undefined) throw new Error("the team has no channel");
  return channel;
}

async function change(settings: object): Promise<void> {
  const { status, text } = await workspace.rest("PATCH", "/v1/slack-integrations", settings);
  expect(status, text).toBe(200);
}

const current = async () => (await workspace.rest("GET", "/v1/slack-integrations")).json.slackIntegration;
const sent = () => slack.messages.filter(({ team }) => team === slack.team(name).id);

/** Lets time pass until a condition holds, a little with each look. */
async function untilPassed(check: () => void | Promise<void>, stepMs = 100): Promise<void> {
  const look = async () => {
    // Not while a message is under way: Slack would see it later than it began.
    if (sending.counts.inFlight === 0) sendingMs += stepMs;
    sending.wake();
    await check();
  };
  await vi.waitFor(look, { timeout: 40_000, interval: 10 });
}

async function visit(count = 1, linkOf?: string): Promise<void> {
  const visits = visitsThrough(scan, api, workspace);
  const shortlink = linkOf ?? (await visits.newLink()).shortlink;
  for (let index = 0; index < count; index++) await visits.visit(shortlink);
}

test("each completed step is one message, and a channel gets one in a second", async () => {
  await visit(2);
  await untilPassed(() => expect(sent()).toHaveLength(4));
  const heads = sent().map(({ text }) => text.split(":")[0]);
  expect(heads.toSorted()).toEqual(["Link followed", "Link followed", "Redirected", "Redirected"]);
  const times = sent().map(({ atMs }) => atMs);
  for (const [index, atMs] of times.slice(1).entries())
    expect(atMs - (times[index] ?? 0)).toBeGreaterThanOrEqual(1_000);
  await expect.poll(current).toMatchObject({ successCount: "4", failureCount: "0", lastError: "" });
  const redirect = sent().find(({ text }) => text.startsWith("Redirected"));
  if (redirect === undefined) throw new Error("no redirect was told");
  expect(textsOf(redirect).map(shownText).join("\n")).toContain("*Destination*\nhttps://example.com");
});

test("only steps of the wanted kinds and link are told", async () => {
  const { id, shortlink } = await visitsThrough(scan, api, workspace).newLink();
  await change({ linkId: id, triggers: ["KIND_EXIT"] });
  await visit(1);
  await visit(1, shortlink);
  await untilPassed(() => expect(sent()).toHaveLength(1));
  await change({ linkId: "", triggers: ["KIND_ENTRY"] });
  await visit(1);
  await untilPassed(() => expect(sent()).toHaveLength(2));
  expect(sent().map(({ text }) => text.split(":")[0])).toEqual(["Redirected", "Link followed"]);
});

test("a message that the channel refuses is a failure with what to do, and comes once that is done", async () => {
  await change({ triggers: ["KIND_EXIT"] });
  general().isMember = false;
  await visit();
  const lastError = "The bot is not in the channel. Let it join, or invite it in Slack.";
  await untilPassed(async () => expect(await current()).toMatchObject({ failureCount: "1", lastError }));
  expect(await current()).toMatchObject({ status: "SLACK_INTEGRATION_STATUS_ACTIVE", successCount: "0" });
  await workspace.rest("POST", `/v1/slack-integrations/channels/${general().id}:join`, {});
  await untilPassed(() => expect(sent()).toHaveLength(1), 1_000);
  await expect.poll(current).toMatchObject({ successCount: "1", lastError: "" });
});

test("a service that stops does not wait for a Slack that hangs", async () => {
  // The answer is for no message of another test.
  await sending.stop(5_000);
  slack.answerNext("chat.postMessage", "never");
  const { workspaceId } = workspace;
  const { id } = await db
    .selectFrom("slack_integrations")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  const sender = createSlackSender({ db, slack: slack.client, tokenBox });
  const key = { workspaceId, subscriberId: id };
  const deliver = (await sender.open([key])).get(id);
  const { body } = testContent(sendingTime());
  const posts = () => slack.requests.filter(({ method }) => method === "chat.postMessage").length;
  const before = posts();
  const stopping = new AbortController();
  const outcome = deliver?.({ ...key, id: randomUUID(), body }, stopping.signal);
  await expect.poll(posts).toBe(before + 1);
  stopping.abort();
  expect(await outcome).toMatchObject({ isDelivered: false, reason: expect.stringContaining("stopped") });
});

test("a message waits as long as Slack asks", async () => {
  await change({ triggers: ["KIND_EXIT"] });
  slack.answerNext("chat.postMessage", { limitedSeconds: 600 });
  await visit();
  const lastError = "Slack takes no more messages for 600 seconds.";
  await untilPassed(async () => expect(await current()).toMatchObject({ failureCount: "1", lastError }));
  const limitedMs = sendingMs;
  await untilPassed(() => expect(sent()).toHaveLength(1), 10_000);
  // Until a look saw the failure up to 400 s have passed, since the pause began.
  expect((sent()[0]?.atMs ?? 0) - limitedMs).toBeGreaterThan(190_000);
});

test.each(["token_revoked", "account_inactive"] as const)(
  "after %s nothing more is sent, and the integration is disconnected",
  async (refusal) => {
    slack.team(name).refusal = refusal;
    await sending.stop(5_000);
    await visit(3);
    sending = start();
    await untilPassed(async () =>
      expect((await current()).status).toBe("SLACK_INTEGRATION_STATUS_DISCONNECTED"),
    );
    const messages = async () => {
      const { rows } = await api.database.pool.query<{ status: string; count: number }>(
        "select status, count(*)::int as count from outbox_messages where workspace_id = $1 group by 1",
        [workspace.workspaceId],
      );
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    };
    await untilPassed(async () => expect(await messages()).not.toHaveProperty("WAITING"), 60_000);
    const { failureCount, successCount, lastError } = await current();
    expect(lastError).toMatch(/Connect Slack again\.$/);
    expect([successCount, sent()]).toEqual(["0", []]);
    // Another one may have been under way when the first was refused; no refused one is tried again.
    expect((await messages()).EXHAUSTED).toBe(Number(failureCount));
  },
);

test("a token that cannot be opened, after the master secret has changed, is told; nothing is sent", async () => {
  await sending.stop(5_000);
  const otherBox = createTokenBox(new Uint8Array(32).fill(8));
  const sender = createSlackSender({ db, slack: slack.client, tokenBox: otherBox });
  const { id: subscriberId } = await current();
  const key = { workspaceId: workspace.workspaceId, subscriberId };
  const deliver = (await sender.open([key])).get(subscriberId);
  const message = { ...key, id: randomUUID(), body: JSON.stringify({ data: {} }) };
  expect(await deliver?.(message, new AbortController().signal)).toMatchObject({
    isDelivered: false,
    reason: expect.stringContaining("SECRET of this service has changed"),
  });
  expect(sent()).toEqual([]);
});

test("a channel's queue is short, and its messages go one after the other", async () => {
  const { pace, open } = createSlackSender({ db, slack: slack.client, tokenBox });
  expect(pace).toEqual({ inFlightMax: 1, intervalMs: 1_000, waitingMax: 1_000 });
  const stranger = { workspaceId: randomUUID(), subscriberId: (await current()).id };
  expect((await open([stranger])).size).toBe(0);
});
