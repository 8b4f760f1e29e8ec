import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { sql } from "kysely";
import { Webhook } from "standardwebhooks";
import { beforeEach, expect, test } from "vitest";
import { WebhookDeliveryStatus } from "../../../gen/signpost/v1/webhook_pb.js";
import { WebhooksService } from "../../../gen/signpost/v1/webhooks_service_pb.js";
import { storeVisits } from "../../../test/support/outbox.ts";
import { type ReceivedRequest, startReceiver } from "../../../test/support/receiver.ts";
import { specialHosts } from "../../../test/support/special-addresses.ts";
import { masterSecret, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { insertLink } from "../../../test/support/start-scan.ts";
import { createFaultFinder } from "../../lib/fetch/address-rules.ts";
import { createHostResolver } from "../../lib/fetch/resolve-host.ts";
import { createSafeFetch } from "../../lib/fetch/safe-fetch.ts";
import { createAddressJudge } from "../../lib/fetch/special-addresses.ts";
import { newId } from "../../lib/ids.ts";
import { deriveKey } from "../../lib/keys.ts";
import { queueTest, replayPart } from "../../outbox/queue-again.ts";
import { createTurn } from "../../outbox/send-turn.ts";
import type { SendingLine } from "../../outbox/sending-line.ts";
import { readContents } from "../../outbox/waiting-messages.ts";
import { replayWebhookJob } from "./replay.ts";
import { createWebhookSender, outcomeOf } from "./sender.ts";

const judge = createAddressJudge(["127.0.0.1/32"]);
const resolve = createHostResolver(["127.0.0.1:9"]);
const api = await startApi({ deps: { addressFaultOf: createFaultFinder({ resolve, judge }) } });
const receiver = await startReceiver();
const sender = createWebhookSender({
  db: api.db,
  now: api.now,
  fetch: createSafeFetch({ allowedNetworks: ["127.0.0.1/32"], resolve }),
  key: deriveKey(masterSecret, "webhook-secrets"),
});
const endpointUrl = `http://127.0.0.1:${receiver.port}/hooks`;

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

async function create(fields: object = {}): Promise<{ id: string; secret: string }> {
  const { status, json } = await rest("POST", "/v1/webhooks", { name: "CRM", endpointUrl, ...fields });
  expect(status, JSON.stringify(json)).toBe(200);
  return { id: json.webhook.id, secret: json.signingSecret };
}

/** Sends one message the way the outbox does, at the present: the library accepts signatures of five minutes only. */
async function send(subscriberId: string, body = '{"type":"webhook.test","timestamp":"…","data":{}}') {
  api.clock.advance(Date.now() - api.now().getTime());
  const key = { workspaceId: workspace.workspaceId, subscriberId };
  const deliver = (await sender.open([key])).get(subscriberId);
  const outcome = await deliver?.({ ...key, id: randomUUID(), body }, new AbortController().signal);
  return { outcome, request: receiver.requests.at(-1) as ReceivedRequest };
}

/** Reads a message with the library of the standard, as a receiver does. Its clock is the real one. */
function verify(secret: string, { body, headers }: ReceivedRequest): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}

test("messages are signed as Standard Webhooks says, for its JavaScript library and by its rules alone", async () => {
  const { id, secret } = await create();
  const { outcome, request } = await send(id, '{"type":"webhook.test","name":"Zoë – 😀"}');
  expect(outcome).toEqual({ isDelivered: true, status: 200, response: "" });
  expect(verify(secret, request)).toEqual({ type: "webhook.test", name: "Zoë – 😀" });
  expect(request).toMatchObject({ method: "POST", path: "/hooks" });
  expect(request.headers).toMatchObject({
    "content-type": "application/json",
    "user-agent": "Signpost-Webhooks/1",
  });
  expect(request.headers["webhook-id"]).toMatch(new RegExp(`^msg_[0-9a-f-]{36}_${id}$`));
  expect(() => verify(secret, { ...request, body: `${request.body} ` })).toThrow(
    "No matching signature found",
  );
  expect(() => verify(`whsec_${Buffer.alloc(32).toString("base64")}`, request)).toThrow(
    "No matching signature",
  );
});

test("after a rotation both secrets verify for 24 hours, and then the new one alone", async () => {
  const { id, secret: old } = await create();
  const { json } = await rest("PATCH", `/v1/webhooks/${id}`, { rotateSecret: true });
  const { request } = await send(id);
  expect(request.headers["webhook-signature"]?.toString().split(" ")).toHaveLength(2);
  for (const secret of [old, json.signingSecret]) expect(verify(secret, request)).toBeDefined();
  await api.database.pool.query(
    "update webhooks set previous_secret_until = previous_secret_until - interval '25 hours' where id = $1",
    [id],
  );
  const later = await send(id);
  expect(later.request.headers["webhook-signature"]?.toString().split(" ")).toHaveLength(1);
  expect(() => verify(old, later.request)).toThrow("No matching signature");
  expect(verify(json.signingSecret, later.request)).toBeDefined();
});

test("after the master secret has changed, a webhook says to rotate its secret, and sends with the new one alone", async () => {
  const { id } = await create();
  await api.database.pool.query(
    "update webhooks set secret = set_byte(secret, 20, 255 - get_byte(secret, 20)) where id = $1",
    [id],
  );
  const seen = receiver.requests.length;
  const { outcome } = await send(id);
  expect(outcome).toMatchObject({ isDelivered: false, reason: expect.stringContaining("set rotateSecret") });
  expect(receiver.requests.length).toBe(seen);
  await rest("PATCH", `/v1/webhooks/${id}`, { rotateSecret: true });
  const { request } = await send(id);
  expect(request.headers["webhook-signature"]?.toString().split(" ")).toHaveLength(1);
});

test.each([
  [301, {}, "redirects are not followed"],
  [404, {}, "check the path of endpointUrl"],
  [410, { isFinal: true }, "set status to WEBHOOK_STATUS_ACTIVE"],
  [429, { retryAfterMs: 120_000 }, "asked too often"],
  [503, { retryAfterMs: 120_000 }, "not available"],
  [500, {}, "look for the error in its log"],
])("an answer with status %i says what to do", async (status, more, words) => {
  const { id } = await create();
  receiver.answer = (_request, response) =>
    response.writeHead(status, { "retry-after": "120", location: "/elsewhere" }).end("why\0not");
  const { outcome } = await send(id);
  receiver.answer = (_request, response) => void response.end();
  expect(outcome).toEqual({
    ...{ isDelivered: false, status, response: "why�not", reason: expect.stringContaining(words) },
    ...more,
  });
});

test("Retry-After may be a date; what is no time, and other statuses, give none", () => {
  const at = new Date("2030-01-01T00:00:00Z");
  const waits = (header: string | string[], status = 429) =>
    outcomeOf(
      {
        kind: "answered",
        status,
        // Undici gives a list when a header was sent several times.
        headers: { "retry-after": header as string },
        head: Buffer.alloc(0),
        milliseconds: 1,
      },
      at,
    );
  expect(waits("Tue, 01 Jan 2030 00:10:00 GMT")).toMatchObject({ retryAfterMs: 600_000 });
  expect(waits(["120", "60"])).toMatchObject({ retryAfterMs: 120_000 });
  for (const header of ["soon", "-5", "Tue, 01 Jan 2019 00:10:00 GMT", "9".repeat(40)])
    expect(waits(header)).not.toHaveProperty("retryAfterMs");
  expect(waits("60", 500)).not.toHaveProperty("retryAfterMs");
});

test("an address that became private is refused when it is sent to, for good, in every notation", async () => {
  const { id } = await create();
  const seen = receiver.requests.length;
  for (const host of specialHosts
    .filter((each) => !/127\.0\.0\.1|^localhost$|^2130706433$/i.test(each))
    .slice(0, 400)) {
    await api.db
      .updateTable("webhooks")
      .set({ endpoint_url: `https://${host}:${receiver.port}/` })
      .where("id", "=", id)
      .execute();
    const { outcome } = await send(id);
    expect([host, outcome]).toMatchObject([host, { isDelivered: false, isHopeless: true, response: "" }]);
  }
  expect(receiver.requests.length).toBe(seen);
});

test("deleted webhooks are left out, and nothing of another workspace is opened by its id", async () => {
  const { id } = await create();
  const other = await api.newWorkspace();
  expect((await sender.open([{ workspaceId: other.workspaceId, subscriberId: id }])).size).toBe(0);
  await rest("DELETE", `/v1/webhooks/${id}`);
  expect((await sender.open([{ workspaceId: workspace.workspaceId, subscriberId: id }])).size).toBe(0);
});

/** Messages as the outbox writes them, the newest first. */
async function addMessages(
  subscriber_id: string,
  statuses: readonly ("DELIVERED" | "EXHAUSTED" | "MISSED")[],
) {
  const ids: string[] = [];
  for (const status of statuses) {
    const at = api.now();
    const id = newId(at);
    ids.unshift(id);
    const own = { workspace_id: workspace.workspaceId, subscriber_id };
    await api.db
      .insertInto("outbox_messages")
      .values({
        ...own,
        id,
        event_id: randomUUID(),
        step_id: randomUUID(),
        status,
        attempts: 1,
        created_at: at,
      })
      .execute();
    await api.db
      .insertInto("outbox_attempts")
      .values({
        ...{ ...own, message_id: id, number: 1, at, duration_ms: 12, response: "body", reason: "" },
        ...{ status: status === "DELIVERED" ? 200 : null, is_delivered: status === "DELIVERED" },
      })
      .execute();
  }
  return ids;
}

test("deliveries are listed newest first with their attempts, page by page and by status, over REST and gRPC", async () => {
  const { id } = await create();
  const ids = await addMessages(id, ["DELIVERED", "EXHAUSTED", "MISSED", "DELIVERED"]);
  const path = `/v1/webhooks/${id}/deliveries`;
  const first = await rest("GET", `${path}?pageSize=3`);
  expect(first.status, first.text).toBe(200);
  expect(first.json.deliveries.map((each: { id: string }) => each.id)).toEqual(ids.slice(0, 3));
  const next = await rest("GET", `${path}?pageSize=3&pageToken=${first.json.nextPageToken}`);
  expect([next.json.deliveries.map((each: { id: string }) => each.id), next.json.nextPageToken]).toEqual([
    ids.slice(3),
    "",
  ]);
  expect(first.json.deliveries[0]).toMatchObject({
    webhookId: id,
    webhookMessageId: `msg_${ids[0]}_${id}`,
    type: "workflow_step.completed",
    status: "WEBHOOK_DELIVERY_STATUS_DELIVERED",
    attemptCount: 1,
    attempts: [{ number: 1, durationMs: 12, delivered: true, httpStatus: 200, response: "body", error: "" }],
  });
  expect(first.json.deliveries[1].attempts[0]).not.toHaveProperty("httpStatus");
  const client = workspace.client(WebhooksService);
  const missed = await client.listDeliveries({ id, status: WebhookDeliveryStatus.MISSED });
  expect(missed.deliveries.map((each) => each.id)).toEqual([ids[1]]);
  api.clock.advance(31 * 24 * 3_600_000);
  expect((await client.listDeliveries({ id })).deliveries).toEqual([]);
  api.clock.advance(-31 * 24 * 3_600_000);
});

test("a test message and a resent message wait to be sent; a webhook that is not active takes neither", async () => {
  const { id } = await create();
  const [given = ""] = await addMessages(id, ["EXHAUSTED"]);
  const test = await rest("POST", `/v1/webhooks/${id}:test`);
  expect(test.json.delivery).toMatchObject({
    type: "webhook.test",
    status: "WEBHOOK_DELIVERY_STATUS_WAITING",
    eventId: "",
    attempts: [],
    nextAttemptAt: expect.any(String),
  });
  const resent = await rest("POST", `/v1/webhooks/${id}/deliveries/${given}:resend`);
  expect(resent.json.delivery).toMatchObject({
    id: given,
    status: "WEBHOOK_DELIVERY_STATUS_WAITING",
    attemptCount: 1,
  });
  const client = workspace.client(WebhooksService);
  expect((await client.resendDelivery({ id, deliveryId: given })).delivery?.id).toBe(given);
  expect((await client.sendTest({ id })).delivery?.type).toBe("webhook.test");
  const unknown = await rest("POST", `/v1/webhooks/${id}/deliveries/${randomUUID()}:resend`);
  expect([unknown.status, unknown.json.error.message]).toEqual([404, expect.stringContaining("deliveryId")]);
  expect((await rest("POST", `/v1/webhooks/${randomUUID()}:test`)).status).toBe(404);
  expect((await rest("POST", "/v1/webhooks/no:test")).status).toBe(400);
  await rest("PATCH", `/v1/webhooks/${id}`, { status: "WEBHOOK_STATUS_PAUSED" });
  const before = (await rest("GET", `/v1/webhooks/${id}/deliveries`)).text;
  for (const path of [`${id}:test`, `${id}/deliveries/${given}:resend`]) {
    const { status, json } = await rest("POST", `/v1/webhooks/${path}`);
    expect([status, json.error.codeType]).toEqual([412, "FAILED_PRECONDITION"]);
  }
  const refusal = await client.sendTest({ id }).catch((error) => ConnectError.from(error).code);
  expect(refusal).toBe(Code.FailedPrecondition);
  expect((await rest("GET", `/v1/webhooks/${id}/deliveries`)).text).toBe(before);
});

test("a message that had a thousand attempts is not sent again, by itself or in a replay", async () => {
  const { id } = await create();
  const [given = ""] = await addMessages(id, ["EXHAUSTED"]);
  const change = api.db.updateTable("outbox_messages").where("id", "=", given);
  const path = `/v1/webhooks/${id}/deliveries/${given}:resend`;
  await change.set({ attempts: 999 }).execute();
  expect((await rest("POST", path)).status).toBe(200);
  await change.set({ attempts: 1_000, status: "EXHAUSTED", next_attempt_at: null }).execute();
  const refused = await rest("POST", path);
  expect([refused.status, refused.json.error.message]).toEqual([412, expect.stringContaining("1000 times")]);
  const call = workspace.client(WebhooksService).resendDelivery({ id, deliveryId: given });
  expect(await call.catch((error) => ConnectError.from(error).code)).toBe(Code.FailedPrecondition);
  const since = new Date(api.now().getTime() - 60_000);
  const span = { since, until: api.now(), includesDelivered: true };
  const key = { workspaceId: workspace.workspaceId, subscriberId: id };
  expect(await replayPart(api.db, key, span, { from: undefined, at: api.now() })).toMatchObject({
    queued: 0,
  });
  const [delivery] = (await rest("GET", `/v1/webhooks/${id}/deliveries`)).json.deliveries;
  expect(delivery).toMatchObject({ id: given, status: "WEBHOOK_DELIVERY_STATUS_EXHAUSTED" });
});

test("a deleted visitor leaves nothing in what receivers answered; answers about others stay", async () => {
  const { id } = await create();
  const link = await insertLink(api.db, { workspaceId: workspace.workspaceId });
  await storeVisits(api.db, link, { count: 2, at: api.now() });
  const { json } = await rest("POST", "/v1/visitor/identify", { visitor: { $email: "ada@example.com" } });
  const own = api.db.selectFrom("events").select("id").where("link_id", "=", link.id).orderBy("id");
  const [told, other] = (await own.execute()).map((event) => event.id);
  const toVisitor = api.db.updateTable("events").set({ visitor_id: json.visitor.id });
  await toVisitor.where("id", "=", told ?? "").execute();
  const traces = await sql<{ id: string; event_id: string }>`select id, event_id from visit_traces
    where workspace_id = ${workspace.workspaceId}`.execute(api.db);
  expect(traces.rows).toHaveLength(4);
  for (const { id: message_id } of traces.rows) {
    const place = { workspace_id: workspace.workspaceId, subscriber_id: id, message_id, number: 1 };
    const answer = { at: api.now(), duration_ms: 1, status: 200, is_delivered: true, reason: "" };
    const echo = { ...place, ...answer, response: "ada@example.com" };
    await api.db.insertInto("outbox_attempts").values(echo).execute();
  }
  expect((await rest("DELETE", `/v1/visitors/${json.visitor.id}`)).status).toBe(200);
  const answers = await sql<{ event_id: string; responses: string[] }>`
    select t.event_id, array_agg(a.response) as responses from outbox_attempts a
    join visit_traces t on t.workspace_id = a.workspace_id and t.id = a.message_id
    where a.workspace_id = ${workspace.workspaceId} group by 1 order by 1`.execute(api.db);
  expect(answers.rows).toEqual([
    { event_id: told, responses: ["", ""] },
    { event_id: other, responses: ["ada@example.com", "ada@example.com"] },
  ]);
});

test("of long messages, no more are read at a time than memory has room for", async () => {
  const { workspaceId } = workspace;
  const link = await insertLink(api.db, { workspaceId });
  await storeVisits(api.db, link, { count: 100, at: api.now() });
  const { json } = await rest("POST", "/v1/visitor/identify", { visitor: { $email: "ada@example.com" } });
  await sql`insert into visitor_attributes (workspace_id, visitor_id, key, type, value, created_at, updated_at)
    select ${workspaceId}, ${json.visitor.id}, 'key' || n, 'STRING', repeat('x', 4096), ${api.now()}, ${api.now()}
    from generate_series(1, 20) n`.execute(api.db);
  const toVisitor = api.db.updateTable("events").set({ visitor_id: json.visitor.id });
  await toVisitor.where("link_id", "=", link.id).execute();
  const { rows } = await sql<{ id: string; eventId: string; stepId: string }>`select id,
    event_id as "eventId", step_id as "stepId" from visit_traces where workspace_id = ${workspaceId}`.execute(
    api.db,
  );
  expect(rows).toHaveLength(200);
  const about = { workspaceId, subscriberId: randomUUID(), createdAt: api.now() };
  const due = rows.map((row) => ({ ...row, ...about, attempts: 0, attemptsBefore: 0, hasBody: false }));
  const { ready, pointless } = await readContents(api.db, due, "https://go.example");
  expect(pointless).toEqual([]);
  expect(ready.length).toBeGreaterThan(0);
  expect(ready.length).toBeLessThan(200);
});

test("a message whose attempt is written while messages are read is not sent a second time", async () => {
  const { id } = await create();
  const key = { workspaceId: workspace.workspaceId, subscriberId: id };
  const lines = new Map<string, SendingLine>();
  const line = () => lines.get(`${key.workspaceId}/${id}`);
  const messageId = await queueTest(api.db, key, api.now());
  let isWritten = false;
  const db = api.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      // The messages that are due were read; the outcome is written before they arrive.
      if (isWritten && result.rows.some((row) => "hasBody" in row)) line()?.held.delete(messageId);
      return result;
    },
  });
  const senders = { WEBHOOK: sender, SLACK: sender };
  const common = { shortUrl: "https://go.example", owner: randomUUID(), now: api.now };
  const turn = createTurn({ db, senders, ...common }, lines);
  await turn();
  expect(line()?.ready.map((message) => message.id)).toEqual([messageId]);
  // Its attempt is under way.
  line()?.ready.shift();
  isWritten = true;
  await turn();
  expect([line()?.ready ?? [], line()?.held.has(messageId) ?? false]).toEqual([[], false]);
});

test("a replay queues what was not delivered, or all, as a job that goes on where it stopped", async () => {
  const { id } = await create();
  const since = api.now().toISOString();
  await addMessages(id, ["DELIVERED", "EXHAUSTED", "MISSED"]);
  const replay = replayWebhookJob({ db: api.db, now: api.now });
  const path = `/v1/webhooks/${id}:replay`;
  const started = await rest("POST", path, { since });
  expect(started.json).toMatchObject({ type: "JOB_TYPE_WEBHOOK_REPLAY", status: "JOB_STATUS_PENDING" });
  const second = await rest("POST", path, { since });
  expect([second.status, second.json.error.message]).toEqual([
    412,
    expect.stringContaining("another replay"),
  ]);
  const place = { workspaceId: workspace.workspaceId, jobId: started.json.id };
  // Asked to stop before its first part: nothing is lost.
  await expect(replay(place, AbortSignal.abort())).rejects.toThrow("goes on afterwards");
  await replay(place, new AbortController().signal);
  await replay(place, new AbortController().signal);
  const { json } = await rest("GET", started.json.statusUrl);
  expect(json).toMatchObject({
    status: "JOB_STATUS_SUCCEEDED",
    itemCount: 2,
    webhookReplay: { messageCount: 2 },
  });
  const statuses = async () =>
    (await rest("GET", `/v1/webhooks/${id}/deliveries`)).json.deliveries.map((each: { status: string }) =>
      each.status.replace("WEBHOOK_DELIVERY_STATUS_", ""),
    );
  expect(await statuses()).toEqual(["WAITING", "WAITING", "DELIVERED"]);
  const all = await workspace.client(WebhooksService).replayDeliveries({
    id,
    since: { seconds: BigInt(Math.floor(Date.parse(since) / 1000)), nanos: 0 },
    includeDelivered: true,
  });
  await replay({ ...place, jobId: all.job?.id ?? "" }, new AbortController().signal);
  expect(await statuses()).toEqual(["WAITING", "WAITING", "WAITING"]);
});

test("a replay that fails in ten runs without getting on is given up, and another one can follow", async () => {
  const { id } = await create();
  const path = `/v1/webhooks/${id}:replay`;
  const since = api.now().toISOString();
  const { json } = await rest("POST", path, { since });
  const job = api.db.updateTable("jobs").where("id", "=", json.id);
  await job.set({ request: Buffer.from("{") }).execute();
  const replay = replayWebhookJob({ db: api.db, now: api.now });
  const run = () =>
    replay({ workspaceId: workspace.workspaceId, jobId: json.id }, new AbortController().signal);
  for (let runs = 0; runs < 10; runs++) await expect(run()).rejects.toThrow("JSON");
  expect((await rest("POST", path, { since })).status).toBe(412);
  await run();
  expect((await rest("GET", json.statusUrl)).json).toMatchObject({
    status: "JOB_STATUS_FAILED",
    error: { codeType: "INTERNAL", message: expect.stringContaining("start another one") },
  });
  expect((await rest("POST", path, { since })).status).toBe(200);
});

test("bad replays name their field and queue nothing; a webhook that stops ends its replay", async () => {
  const { id } = await create();
  const path = `/v1/webhooks/${id}:replay`;
  const now = api.now().getTime();
  const cases: [object, string][] = [
    [{}, "since"],
    [{ since: new Date(now - 31 * 24 * 3_600_000).toISOString() }, "since"],
    [{ since: "yesterday" }, "since"],
    [{ since: new Date(now + 86_400_000).toISOString() }, "since"],
    [{ since: new Date(now).toISOString(), until: new Date(now - 60_000).toISOString() }, "until"],
  ];
  for (const [body, field] of cases) {
    const { status, json } = await rest("POST", path, body);
    expect([body, status, json.error.message]).toEqual([body, 400, expect.stringContaining(field)]);
  }
  expect((await rest("POST", `/v1/webhooks/${randomUUID()}:replay`, { since: new Date(now) })).status).toBe(
    404,
  );
  const jobs = api.db.selectFrom("jobs").selectAll().where("workspace_id", "=", workspace.workspaceId);
  expect(await jobs.execute()).toEqual([]);
  const { json } = await rest("POST", path, { since: new Date(now).toISOString() });
  await rest("PATCH", `/v1/webhooks/${id}`, { status: "WEBHOOK_STATUS_PAUSED" });
  const place = { workspaceId: workspace.workspaceId, jobId: json.id };
  await replayWebhookJob({ db: api.db, now: api.now })(place, new AbortController().signal);
  const ended = await rest("GET", json.statusUrl);
  expect(ended.json).toMatchObject({
    status: "JOB_STATUS_FAILED",
    error: { codeType: "FAILED_PRECONDITION", message: expect.stringContaining("paused") },
  });
});

test("the messages of completed steps can be read since a time, those of the workspace and of people only", async () => {
  const other = await api.newWorkspace();
  const [link, foreign] = [
    await insertLink(api.db, { workspaceId: workspace.workspaceId }),
    await insertLink(api.db, { workspaceId: other.workspaceId }),
  ];
  const at = api.now();
  await storeVisits(api.db, link, { count: 2, at });
  await storeVisits(api.db, link, {
    count: 1,
    at,
    userAgent: "Googlebot/2.1 (+http://www.google.com/bot.html)",
  });
  await storeVisits(api.db, foreign, { count: 1, at });
  const since = new Date(at.getTime() - 60_000).toISOString();
  const read = await rest("GET", `/v1/webhook-messages?since=${since}`);
  const bodies = read.json.messages.map(({ body }: { body: string }) => JSON.parse(body));
  expect(bodies.length, read.text).toBe(4);
  expect(
    new Set(bodies.map(({ data }: { data: { event: { linkId: string } } }) => data.event.linkId)),
  ).toEqual(new Set([link.id]));
  expect(bodies[0]).toMatchObject({
    type: "workflow_step.completed",
    data: { step: { kind: "KIND_ENTRY" } },
  });
  const seconds = BigInt(Math.floor(Date.parse(since) / 1000));
  const { messages } = await workspace.client(WebhooksService).listMessages({ since: { seconds, nanos: 0 } });
  expect(messages.map((each) => each.id)).toEqual(read.json.messages.map(({ id }: { id: string }) => id));
  const later = new Date(at.getTime() + 3_600_000).toISOString();
  expect((await rest("GET", `/v1/webhook-messages?since=${later}`)).json).toEqual({ messages: [] });
  for (const wrong of ["", "?since=", "?since=yesterday"])
    expect([wrong, (await rest("GET", `/v1/webhook-messages${wrong}`)).status]).toEqual([wrong, 400]);
  const reader = api.rest(await api.scopedToken(workspace.workspaceId, ["webhooks:read"]));
  expect((await reader("GET", `/v1/webhook-messages?since=${since}`)).status).toBe(403);
});
