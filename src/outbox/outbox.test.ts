import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { sql } from "kysely";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { tickingClock } from "../../test/support/clock.ts";
import {
  hangs,
  plainSender,
  type Receiver,
  type Subscription,
  startReceiver,
  storeVisits,
  subscribe,
} from "../../test/support/outbox.ts";
import { startApi } from "../../test/support/start-api.ts";
import { insertLink, startTestScan, type TestLink } from "../../test/support/start-scan.ts";
import { visitsThrough } from "../../test/support/visits.ts";
import { deleteOldMessages } from "./delete-old-messages.ts";
import { openOutbox } from "./open-outbox.ts";
import { queueTest, replayPart, resend } from "./queue-again.ts";
import { startSending } from "./send-loop.ts";
import type { Pace, Sender } from "./sender.ts";
import { changeSubscriber, removeSubscriber } from "./subscribers.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const clock = tickingClock();
const api = await startApi({ clock });
const { db } = api;
const outbox = openOutbox({
  connection: api.database.connection,
  statementTimeoutMs: 30_000,
  onError: () => {},
});
afterAll(outbox.close);
const scan = await startTestScan(api.database, {}, afterAll);

interface World {
  readonly link: TestLink;
  readonly receiver: Receiver;
  readonly webhook: (more?: Partial<Subscription>) => Promise<string>;
}

/** A link in a workspace of its own, and a receiver. */
async function newWorld(answer?: Parameters<typeof startReceiver>[0]): Promise<World> {
  const link = await insertLink(db);
  const receiver = await startReceiver(answer);
  onTestFinished(receiver.close);
  const { workspaceId } = link;
  return {
    link,
    receiver,
    webhook: (more) => subscribe(db, { workspaceId, endpointUrl: receiver.url, at: clock.now(), ...more }),
  };
}

interface SendingOptions {
  readonly timeoutMs?: number;
  readonly pace?: Partial<Pace>;
  /** Whose outcomes PostgreSQL refuses. */
  readonly refused?: string;
}

/** Sends until the test ends. No jitter. */
function send({ timeoutMs = 10_000, pace, refused }: SendingOptions = {}) {
  const plain = plainSender(db, { timeoutMs, pace });
  const sender: Sender = {
    pace: plain.pace,
    async open(subscribers) {
      const delivers = new Map(await plain.open(subscribers));
      const deliver = refused === undefined ? undefined : delivers.get(refused);
      if (refused !== undefined && deliver !== undefined)
        // The column has two bytes.
        delivers.set(refused, async (...sent) => ({ ...(await deliver(...sent)), status: 70_000 }));
      return delivers;
    },
  };
  const troubles: unknown[] = [];
  const sending = startSending({
    db: outbox.db,
    senders: { WEBHOOK: sender, SLACK: sender },
    shortUrl: "https://go.example",
    owner: randomUUID(),
    now: clock.now,
    random: () => 0.5,
    onTrouble: (error) => troubles.push(error),
    tickMs: 10,
  });
  onTestFinished(async () => {
    await sending.stop(0);
    // What the test left waiting would be sent in the next one.
    for (const table of ["subscribers", "intake", "lines", "messages"])
      await sql`delete from ${sql.table(`outbox_${table}`)}`.execute(db);
    expect(troubles.map(String)).toEqual(refused === undefined ? [] : troubles.map(outOfRange));
    expect(troubles.length > 0).toBe(refused !== undefined);
  });
  return sending;
}

const outOfRange = () => expect.stringContaining("out of range");

async function messagesOf(subscriberId: string) {
  const { rows } = await sql<{
    id: string;
    status: string;
    attempts: number;
    next_attempt_at: Date | null;
    body: string | null;
  }>`
    select id, status, attempts, next_attempt_at, body from outbox_messages where subscriber_id = ${subscriberId}
    order by id`.execute(db);
  return rows;
}

async function statusesOf(subscriberId: string): Promise<Readonly<Record<string, number>>> {
  const messages = await messagesOf(subscriberId);
  return Object.fromEntries(
    [...Map.groupBy(messages, ({ status }) => status)].map(([name, some]) => [name, some.length]),
  );
}

async function subscriberOf(id: string) {
  return db.selectFrom("outbox_subscribers").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
}

const waitLong = { timeout: 60_000, interval: 10 };

test("a visit sends a message for each step and webhook, with the objects as the API returns them", async () => {
  const workspace = await api.newWorkspace();
  const { rest, workspaceId } = workspace;
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const made = await rest("POST", "/v1/links", {
    destination: "https://example.com",
    conversionTracking: true,
    name: 'Menu "of the day"',
    tags: ["Café"],
    metadata: { table: "7" },
  });
  const all = await subscribe(db, { workspaceId, endpointUrl: receiver.url, at: clock.now() });
  const exits = await subscribe(db, {
    workspaceId,
    endpointUrl: receiver.url,
    at: clock.now(),
    triggers: ["EXIT"],
  });
  await subscribe(db, { workspaceId, endpointUrl: receiver.url, at: clock.now(), linkId: randomUUID() });
  await subscribe(db, { workspaceId, endpointUrl: receiver.url, at: clock.now(), status: "PAUSED" });
  const { eventId, lbid } = await visitsThrough(scan, api, workspace).visit(made.json.link.shortlink);
  const sending = send();
  await expect.poll(() => sending.counts.delivered, waitLong).toBe(3);

  const bodies = receiver.received.map(({ body }) => JSON.parse(body));
  const listed = await rest("GET", "/v1/events?include=visitor&include=device");
  const [event] = listed.json.json.events;
  const traces = (await rest("GET", `/v1/events/${eventId}/traces`)).json.traces;
  const link = (await rest("GET", `/v1/links/${event.linkId}?include=tags`)).json.link;
  const { visitor, device, link: _, ...alone } = event;
  for (const { type, timestamp, data } of bodies) {
    expect([type, data.lbid]).toEqual(["workflow_step.completed", lbid]);
    expect(traces).toContainEqual(data.trace);
    expect(timestamp).toBe(data.trace.completedAt);
    expect(data.event).toEqual(alone);
    expect(data.visitor).toEqual(visitor);
    expect(data.device).toEqual(device);
    const { id, name, shortlink, entrypoint, metadata } = link;
    expect(data.link).toMatchObject({ id, name, shortlink, metadata, tags: link.tags });
    expect(new URL(data.link.entrypoint).pathname).toBe(new URL(entrypoint).pathname);
    expect(data.step.kind).toBe(data.trace.stepKind);
    expect(data.step.eventAction).toBe(data.trace.stepAction);
  }
  const idOf = (subscriber: string) => traces.map(({ id }: { id: string }) => `msg_${id}_${subscriber}`);
  const exit = traces.find(({ stepKind }: { stepKind: string }) => stepKind === "KIND_EXIT");
  expect(receiver.received.map(({ id }) => id).sort()).toEqual(
    [...idOf(all), `msg_${exit.id}_${exits}`].sort(),
  );
  await expect.poll(() => statusesOf(all), waitLong).toEqual({ DELIVERED: 2 });
  const { rows: attempts } = await sql`select number, status, is_delivered from outbox_attempts
    where subscriber_id = ${all}`.execute(db);
  expect(attempts).toEqual(Array(2).fill({ number: 1, status: 204, is_delivered: true }));
  expect(await subscriberOf(all)).toMatchObject({
    success_count: 2n,
    failure_count: 0n,
    failing_since: null,
  });
  expect((await messagesOf(all)).map(({ body }) => body)).toEqual([null, null]);
});

test("bots and agents send nothing, and visits of other workspaces do not either", async () => {
  const { link, receiver, webhook } = await newWorld();
  const id = await webhook();
  await storeVisits(db, link, {
    count: 2,
    at: clock.now(),
    userAgent: "Mozilla/5.0 (compatible; Googlebot/2.1)",
  });
  await storeVisits(db, link, { count: 2, at: clock.now(), userAgent: "ChatGPT-User/1.0" });
  await storeVisits(db, await insertLink(db), { count: 3, at: clock.now() });
  await storeVisits(db, link, { count: 1, at: clock.now() });
  const sending = send();
  await expect.poll(() => sending.counts.delivered, waitLong).toBe(2);
  await expect.poll(() => statusesOf(id), waitLong).toEqual({ DELIVERED: 2 });
  expect(receiver.received).toHaveLength(2);
});

test("a message is tried ten times by the schedule, with one id and one text, and is then exhausted", async () => {
  const { link, receiver, webhook } = await newWorld((_message, res) => {
    res.statusCode = 500;
    res.end("out of paper");
  });
  const id = await webhook({ triggers: ["EXIT"] });
  await storeVisits(db, link, { count: 1, at: clock.now() });
  const sending = send();
  const pauses = [
    5_000,
    5 * minuteMs,
    30 * minuteMs,
    ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
  ];
  for (const [index, pause] of pauses.entries()) {
    await expect.poll(async () => (await messagesOf(id))[0]?.attempts, waitLong).toBe(index + 1);
    const [message] = await messagesOf(id);
    const left = (message?.next_attempt_at?.getTime() ?? 0) - clock.now().getTime();
    // The clock moves a little whenever somebody reads it.
    expect(Math.abs(left - pause)).toBeLessThan(4_500);
    expect(receiver.received).toHaveLength(index + 1);
    // A visitor's name may change in the meantime.
    await sql`update links set name = ${`renamed ${index}`} where id = ${link.id}`.execute(db);
    clock.advance(pause + 5_000);
  }
  await expect.poll(() => statusesOf(id), waitLong).toEqual({ EXHAUSTED: 1 });
  expect(sending.counts).toMatchObject({ delivered: 0, failed: 10, exhausted: 1 });
  expect(new Set(receiver.received.map(({ id: one }) => one)).size).toBe(1);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  const { rows } =
    await sql`select number, status, response, reason from outbox_attempts where subscriber_id = ${id}
    order by number`.execute(db);
  expect(rows).toEqual(
    Array.from({ length: 10 }, (_, index) => ({
      number: index + 1,
      status: 500,
      response: "out of paper",
      reason: "The receiver answered 500.",
    })),
  );
  expect(await subscriberOf(id)).toMatchObject({ failure_count: 10n, exhausted_in_row: 1, status: "ACTIVE" });
  // It can be sent again, and begins a schedule of its own.
  expect(
    await resend(
      db,
      { workspaceId: link.workspaceId, subscriberId: id },
      (await messagesOf(id))[0]?.id ?? "",
      clock.now(),
    ),
  ).toBe(true);
  await expect.poll(() => receiver.received.length, waitLong).toBe(11);
  await expect.poll(() => statusesOf(id), waitLong).toEqual({ WAITING: 1 });
});

/** A receiver of which a test ends the answers. */
async function slowWorld() {
  const open: ServerResponse[] = [];
  const world = await newWorld((_message, res) => {
    open.push(res);
    res.statusCode = hangs;
  });
  const answer = async (status: number, body = "") => {
    await expect.poll(() => open.length, waitLong).toBe(1);
    const [res] = open.splice(0);
    if (res === undefined) throw new Error("nobody waits for an answer");
    res.statusCode = status;
    res.end(body);
  };
  return { ...world, open, answer };
}

test("a message that is resent while an attempt fails is sent again at once, with a whole schedule", async () => {
  const { link, webhook, open, answer } = await slowWorld();
  const id = await webhook({ triggers: ["EXIT"] });
  await storeVisits(db, link, { count: 1, at: clock.now() });
  send();
  await answer(500);
  await expect.poll(async () => (await messagesOf(id))[0]?.attempts, waitLong).toBe(1);
  clock.advance(10_000);
  await expect.poll(() => open.length, waitLong).toBe(1);
  const key = { workspaceId: link.workspaceId, subscriberId: id };
  expect(await resend(db, key, (await messagesOf(id))[0]?.id ?? "", clock.now())).toBe(true);
  await answer(500);
  // The second pause of the old schedule is five minutes.
  await expect.poll(() => open.length, waitLong).toBe(1);
  await answer(500);
  await expect.poll(async () => (await messagesOf(id))[0]?.attempts, waitLong).toBe(3);
  const [message] = await messagesOf(id);
  const left = (message?.next_attempt_at?.getTime() ?? 0) - clock.now().getTime();
  expect(Math.abs(left - 5_000)).toBeLessThan(4_500);
});

test("an attempt that ends after its visitor was deleted keeps no answer, and one of a deleted message is not kept", async () => {
  const { link, webhook, answer, open } = await slowWorld();
  const id = await webhook({ triggers: ["EXIT"] });
  const attempts = async () =>
    (
      await sql`select number, response from outbox_attempts where subscriber_id = ${id} order by number`.execute(
        db,
      )
    ).rows;
  await storeVisits(db, link, { count: 1, at: clock.now() });
  const visitor = sql`(select id from visitors where workspace_id = ${link.workspaceId} limit 1)`;
  const visits = (to: typeof visitor) =>
    sql`update events set visitor_id = ${to} where workspace_id = ${link.workspaceId}`.execute(db);
  await sql`insert into visitors (workspace_id, id, created_at, updated_at)
    values (${link.workspaceId}, ${randomUUID()}, ${clock.now()}, ${clock.now()})`.execute(db);
  await visits(visitor);
  send();
  await expect.poll(() => open.length, waitLong).toBe(1);
  await visits(sql`null`);
  await answer(500, "Thank you, Ada");
  await expect.poll(attempts, waitLong).toEqual([{ number: 1, response: "" }]);
  clock.advance(10_000);
  await answer(500, "Thank you, nobody");
  await expect
    .poll(attempts, waitLong)
    .toEqual([expect.anything(), { number: 2, response: "Thank you, nobody" }]);
  clock.advance(10 * minuteMs);
  await expect.poll(() => open.length, waitLong).toBe(1);
  await sql`delete from outbox_messages where subscriber_id = ${id}`.execute(db);
  await answer(500, "Who?");
  await expect.poll(async () => (await subscriberOf(id)).failure_count, waitLong).toBe(3n);
  expect(await attempts()).toHaveLength(2);
});

test("410 disables a webhook at once with one mail, what waits is missed, and it begins anew when it is enabled", async () => {
  let answered = 410;
  const { link, receiver, webhook } = await newWorld((_message, res) => {
    res.statusCode = answered;
  });
  const id = await webhook();
  const { workspaceId } = link;
  const member = {
    workspace_id: workspaceId,
    email: "ada@example.com",
    role: "ADMIN" as const,
    first_name: "Ada",
  };
  await db
    .insertInto("members")
    .values({ ...member, id: randomUUID(), last_name: "L", created_at: clock.now(), updated_at: clock.now() })
    .execute();
  await storeVisits(db, link, { count: 40, at: clock.now() });
  send();
  const givenUp = async () => {
    const { MISSED = 0, EXHAUSTED = 0 } = await statusesOf(id);
    return MISSED + EXHAUSTED;
  };
  await expect.poll(givenUp, waitLong).toBe(80);
  const { MISSED, EXHAUSTED } = await statusesOf(id);
  expect(EXHAUSTED).toBe(receiver.received.length);
  expect(MISSED).toBeGreaterThan(0);
  expect(await subscriberOf(id)).toMatchObject({
    status: "DISABLED",
    last_error: "The receiver answered 410.",
  });
  const { rows: mails } = await sql<{ payload: { kind: string; facts: string } }>`select payload
    from graphile_worker._private_jobs j where payload ->> 'workspaceId' = ${workspaceId}`.execute(db);
  expect(mails.map(({ payload }) => [payload.kind, JSON.parse(payload.facts)])).toEqual([
    ["webhook-disabled", { url: receiver.url, reason: "The receiver answered 410." }],
  ]);
  // Nothing is queued while it is disabled.
  await storeVisits(db, link, { count: 1, at: clock.now() });
  answered = 200;
  const before = receiver.received.length;
  await changeSubscriber(db, { workspaceId, subscriberId: id }, { status: "ACTIVE" }, clock.now());
  expect(await subscriberOf(id)).toMatchObject({
    status: "ACTIVE",
    failing_since: null,
    exhausted_in_row: 0,
  });
  await storeVisits(db, link, { count: 1, at: clock.now() });
  await expect.poll(async () => (await statusesOf(id)).DELIVERED, waitLong).toBe(2);
  expect(receiver.received.length - before).toBe(2);

  // A replay sends what was missed, and the steps that were completed meanwhile.
  const span = {
    since: new Date(clock.now().getTime() - hourMs),
    until: clock.now(),
    includesDelivered: false,
  };
  let queued = 0;
  for (let from: Awaited<ReturnType<typeof replayPart>>["next"] | undefined, goesOn = true; goesOn; ) {
    const part = await replayPart(db, { workspaceId, subscriberId: id }, span, { from, at: clock.now() });
    queued += part.queued;
    from = part.next;
    goesOn = from !== undefined;
  }
  expect(queued).toBe(82);
  await expect.poll(() => statusesOf(id), waitLong).toEqual({ DELIVERED: 84 });
});

test("100 exhausted messages in a row disable a webhook, and so do five days of failures; one success saves it", async () => {
  let failing = true;
  const { link, webhook } = await newWorld((_message, res) => {
    res.statusCode = failing ? 500 : 200;
  });
  const key = (subscriberId: string) => ({ workspaceId: link.workspaceId, subscriberId });
  const tired = await webhook();
  await storeVisits(db, link, { count: 50, at: clock.now() });
  // Their last attempts.
  const sending = send();
  await expect
    .poll(async () => (await messagesOf(tired)).filter(({ attempts }) => attempts === 1).length, waitLong)
    .toBe(100);
  await sql`update outbox_messages set attempts = 9, next_attempt_at = ${clock.now()} where subscriber_id = ${tired}`.execute(
    db,
  );
  clock.advance(10_000);
  await expect.poll(async () => (await subscriberOf(tired)).status, waitLong).toBe("DISABLED");
  expect(await statusesOf(tired)).toEqual({ EXHAUSTED: 100 });
  await removeSubscriber(db, key(tired));

  const days = await webhook();
  await storeVisits(db, link, { count: 1, at: clock.now() });
  await expect.poll(async () => (await subscriberOf(days)).failure_count, waitLong).toBe(2n);
  clock.advance(5 * 24 * hourMs - 2 * minuteMs);
  await expect.poll(async () => (await subscriberOf(days)).failure_count, waitLong).toBe(4n);
  expect(await subscriberOf(days)).toMatchObject({ status: "ACTIVE" });
  failing = false;
  clock.advance(20 * minuteMs);
  await expect.poll(async () => (await subscriberOf(days)).success_count, waitLong).toBe(2n);
  expect(await subscriberOf(days)).toMatchObject({ status: "ACTIVE", failing_since: null, last_error: "" });
  failing = true;
  await storeVisits(db, link, { count: 1, at: clock.now() });
  await expect.poll(async () => (await subscriberOf(days)).failure_count, waitLong).toBe(6n);
  clock.advance(5 * 24 * hourMs + minuteMs);
  await expect.poll(async () => (await subscriberOf(days)).status, waitLong).toBe("DISABLED");
  expect(sending.counts.troubles).toBe(0);
});

test("what waits while a webhook is paused is sent when it is active again, and new steps queue nothing", async () => {
  const { link, receiver, webhook } = await newWorld();
  const subscriberId = await webhook();
  const key = { workspaceId: link.workspaceId, subscriberId };
  await storeVisits(db, link, { count: 2, at: clock.now() });
  await changeSubscriber(db, key, { status: "PAUSED" }, clock.now());
  await storeVisits(db, link, { count: 5, at: clock.now() });
  send();
  await expect.poll(() => statusesOf(subscriberId), waitLong).toEqual({ WAITING: 4 });
  // Another one's messages go by in the meantime.
  const other = await newWorld();
  await other.webhook();
  await storeVisits(db, other.link, { count: 1, at: clock.now() });
  await expect.poll(() => other.receiver.received.length, waitLong).toBe(2);
  expect(receiver.received).toEqual([]);
  await changeSubscriber(db, key, { status: "ACTIVE" }, clock.now());
  await expect.poll(() => statusesOf(subscriberId), waitLong).toEqual({ DELIVERED: 4 });
});

test("a receiver that is busy gets nothing before the time that it asks for, and a day is the longest", async () => {
  const { link, webhook } = await newWorld((_message, res, number) => {
    res.statusCode = number === 1 ? 429 : 503;
    res.setHeader("retry-after", number === 1 ? 3600 : 10_000_000);
  });
  const id = await webhook({ triggers: ["EXIT"] });
  await storeVisits(db, link, { count: 1, at: clock.now() });
  send();
  const left = async () =>
    ((await messagesOf(id))[0]?.next_attempt_at?.getTime() ?? 0) - clock.now().getTime();
  await expect.poll(async () => (await messagesOf(id))[0]?.attempts, waitLong).toBe(1);
  expect(Math.abs((await left()) - hourMs)).toBeLessThan(minuteMs);
  clock.advance(hourMs + minuteMs);
  await expect.poll(async () => (await messagesOf(id))[0]?.attempts, waitLong).toBe(2);
  expect(Math.abs((await left()) - 24 * hourMs)).toBeLessThan(minuteMs);
});

test("a tenant with thousands of messages to receivers that hang delays nobody else's message", async () => {
  const { link, receiver, webhook } = await newWorld((_message, res) => {
    res.statusCode = hangs;
  });
  for (let count = 0; count < 4; count++) await webhook({ endpointUrl: `${receiver.url}/${count}` });
  await storeVisits(db, link, { count: 1_000, at: clock.now() });
  const sending = send({ timeoutMs: 60_000 });
  // All that the tenant may have under way hangs.
  await expect.poll(() => sending.counts.inFlight, waitLong).toBe(32);
  const other = await newWorld();
  await other.webhook();
  await storeVisits(db, other.link, { count: 20, at: clock.now() });
  await expect.poll(() => other.receiver.received.length, waitLong).toBe(40);
  // Its messages hang still.
  await expect.poll(() => sending.counts, waitLong).toMatchObject({ inFlight: 32, failed: 0 });
  expect(receiver.received).toHaveLength(32);
});

test("more receivers that are dead than a process has lines delay nobody else's message", async () => {
  const dead = await startReceiver((_message, res) => {
    res.statusCode = hangs;
  });
  onTestFinished(dead.close);
  const at = clock.now();
  for (let workspaces = 0; workspaces < 9; workspaces++) {
    const { workspaceId } = await insertLink(db);
    await sql`with ids as (select gen_random_uuid() as id from generate_series(1, 64)),
      added as (insert into outbox_subscribers (workspace_id, id, kind, status, triggers, enabled_at, failing_since)
        select ${workspaceId}, id, 'WEBHOOK', 'ACTIVE', '{}', ${at}, ${at} from ids),
      hooks as (insert into webhooks (workspace_id, id, name, endpoint_url, source, secret, created_at, updated_at)
        select ${workspaceId}, id, 'CRM', ${dead.url}, 'API', '', ${at}, ${at} from ids),
      messages as (insert into outbox_messages (workspace_id, subscriber_id, id, next_attempt_at, created_at)
        select ${workspaceId}, id, gen_random_uuid(), ${at}, ${at} from ids, generate_series(1, 20))
      insert into outbox_lines (workspace_id, subscriber_id, due_at) select ${workspaceId}, id, ${at} from ids`.execute(
      db,
    );
  }
  const sending = send({ timeoutMs: 60_000 });
  // All attempts that receivers that fail may have under way.
  await expect.poll(() => sending.counts.inFlight, waitLong).toBe(256);
  const other = await newWorld();
  await other.webhook();
  await storeVisits(db, other.link, { count: 20, at: clock.now() });
  await expect.poll(() => other.receiver.received.length, waitLong).toBe(40);
  await expect.poll(() => sending.counts, waitLong).toMatchObject({ inFlight: 256, failed: 0 });
});

test("an outcome that PostgreSQL refuses keeps no other from being written, and its message waits", async () => {
  const { link, receiver, webhook } = await newWorld();
  const [fine, refused] = [await webhook(), await webhook({ endpointUrl: `${receiver.url}/refused` })];
  await storeVisits(db, link, { count: 20, at: clock.now() });
  const sending = send({ refused });
  await expect.poll(() => statusesOf(fine), waitLong).toEqual({ DELIVERED: 40 });
  await expect.poll(() => sending.counts.troubles, waitLong).toBeGreaterThan(0);
  expect(await statusesOf(refused)).toEqual({ WAITING: 40 });
});

test("a subscriber with a pace gets no more than that at once, and the oldest of too many are missed", async () => {
  const { link, receiver, webhook } = await newWorld();
  const id = await webhook({ kind: "SLACK", triggers: ["EXIT"] });
  await storeVisits(db, link, { count: 30, at: clock.now() });
  const sending = send({ pace: { inFlightMax: 1, intervalMs: 3_600_000, waitingMax: 10 } });
  await expect.poll(async () => (await statusesOf(id)).MISSED, waitLong).toBe(20);
  await expect.poll(() => sending.counts.delivered, waitLong).toBe(1);
  const missed = (await messagesOf(id)).slice(0, 20);
  expect(missed.every(({ status }) => status === "MISSED")).toBe(true);
  clock.advance(hourMs + minuteMs);
  await expect.poll(() => receiver.received.length, waitLong).toBe(2);
});

test("a test message is sent like others, and a removed webhook gets nothing more", async () => {
  const { link, receiver, webhook } = await newWorld();
  const key = { workspaceId: link.workspaceId, subscriberId: await webhook() };
  const id = await queueTest(db, key, clock.now());
  send();
  await expect.poll(() => receiver.received.length, waitLong).toBe(1);
  expect(receiver.received[0]?.id).toBe(`msg_${id}_${key.subscriberId}`);
  expect(JSON.parse(receiver.received[0]?.body ?? "")).toMatchObject({ type: "webhook.test", data: {} });
});

test("what waits for a webhook that is removed is not sent, nor what comes later", async () => {
  const { link, receiver, webhook } = await newWorld();
  const key = { workspaceId: link.workspaceId, subscriberId: await webhook() };
  await queueTest(db, key, clock.now());
  await storeVisits(db, link, { count: 5, at: clock.now() });
  await removeSubscriber(db, key);
  await storeVisits(db, link, { count: 5, at: clock.now() });
  const other = await newWorld();
  await other.webhook();
  await storeVisits(db, other.link, { count: 1, at: clock.now() });
  send();
  await expect.poll(() => other.receiver.received.length, waitLong).toBe(2);
  expect(receiver.received).toEqual([]);
});

test("a deleted visitor leaves nothing in messages that wait, and what is sent later does not know the visitor", async () => {
  const workspace = await api.newWorkspace();
  const { rest, workspaceId } = workspace;
  let status = 500;
  const receiver = await startReceiver((_message, res) => {
    res.statusCode = status;
  });
  onTestFinished(receiver.close);
  const visits = visitsThrough(scan, api, workspace);
  const id = await subscribe(db, {
    workspaceId,
    endpointUrl: receiver.url,
    at: clock.now(),
    triggers: ["EXIT"],
  });
  const { lbid } = await visits.visit((await visits.newLink()).shortlink);
  await rest("POST", "/v1/visitor/identify", { lbid, visitor: { $email: "ada@example.com" } });
  send();
  await expect.poll(async () => (await messagesOf(id))[0]?.attempts, waitLong).toBe(1);
  expect((await messagesOf(id))[0]?.body).toContain("ada@example.com");
  const visitorId = JSON.parse(receiver.received[0]?.body ?? "").data.visitor.id;
  expect((await rest("DELETE", `/v1/visitors/${visitorId}`)).status).toBe(200);
  expect((await messagesOf(id))[0]?.body).toBeNull();
  status = 204;
  clock.advance(minuteMs);
  await expect.poll(() => statusesOf(id), waitLong).toEqual({ DELIVERED: 1 });
  expect(JSON.parse(receiver.received[1]?.body ?? "").data).not.toHaveProperty("visitor");
  expect(receiver.received[1]?.body).not.toContain("ada@example.com");
});

test("messages are deleted after 30 days with their attempts, and those of removed webhooks at once", async () => {
  const { link, webhook } = await newWorld();
  const [kept, removed] = [await webhook(), await webhook()];
  await storeVisits(db, link, { count: 2, at: clock.now() });
  send();
  await expect.poll(() => statusesOf(kept), waitLong).toEqual({ DELIVERED: 4 });
  await expect.poll(() => statusesOf(removed), waitLong).toEqual({ DELIVERED: 4 });
  await removeSubscriber(db, { workspaceId: link.workspaceId, subscriberId: removed });
  const dayMs = 24 * hourMs;
  const left = async () => {
    const { rows } = await sql<{ messages: number; attempts: number }>`select
      (select count(*) from outbox_messages where workspace_id = ${link.workspaceId})::int as messages,
      (select count(*) from outbox_attempts where workspace_id = ${link.workspaceId})::int as attempts`.execute(
      db,
    );
    return rows[0];
  };
  await deleteOldMessages(db, new Date(clock.now().getTime() + 29 * dayMs));
  expect(await left()).toEqual({ messages: 4, attempts: 4 });
  await deleteOldMessages(db, new Date(clock.now().getTime() + 31 * dayMs));
  expect(await left()).toEqual({ messages: 0, attempts: 0 });
});
