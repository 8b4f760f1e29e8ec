import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { tickingClock } from "../../test/support/clock.ts";
import { insertWorkflow } from "../../test/support/insert-workflow.ts";
import { plainSender, startReceiver, storeVisits, subscribe } from "../../test/support/outbox.ts";
import { startApi, type TestSandbox, type TestWorkspace } from "../../test/support/start-api.ts";
import { insertLink, startTestScan, type TestLink, type TestScan } from "../../test/support/start-scan.ts";
import { formAction, newVisitor } from "../../test/support/visitor.ts";
import { visitsThrough } from "../../test/support/visits.ts";
import { deleteWorkspace } from "../db/end-workspaces.ts";
import { jobCalls } from "../jobs/queue.ts";
import { readPlanTable } from "../model/plans/read-plan-table.ts";
import { createClassifier } from "../scan/device/classify.ts";
import { nowhere } from "../scan/device/geography.ts";
import { createRecordStore } from "../scan/store/store-records.ts";
import { replayPart } from "./queue-again.ts";
import { startSending } from "./send-loop.ts";
import { changeSubscriber } from "./subscribers.ts";

/*
 * Who is told of what. Each test stores what nobody may be told of, then something that is told, and sends until nothing
 * is left that could be sent. What was received until then is all that ever is.
 */

const hourMs = 3_600_000;
const waitLong = { timeout: 120_000, interval: 10 };
const clock = tickingClock();
const api = await startApi({ clock });
const { db } = api;
const scan = await startTestScan(api.database, {}, afterAll);
let status = 204;
const receiver = await startReceiver((_message, res) => {
  res.statusCode = status;
});
afterAll(receiver.close);

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/** Adds a webhook whose messages arrive at a path of its own. */
async function webhookOf({ workspaceId }: { readonly workspaceId: string }) {
  const path = `/${randomUUID()}`;
  const id = await subscribe(db, { workspaceId, endpointUrl: receiver.url + path, at: clock.now() });
  const bodies = () =>
    receiver.received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body));
  return { id, key: { workspaceId, subscriberId: id }, bodies };
}

type Body = ReturnType<Awaited<ReturnType<typeof webhookOf>>["bodies"]>[number];

const eventsOf = (bodies: readonly Body[]) => [...new Set(bodies.map(({ data }) => data.event.id))].sort();
const kindsOf = (bodies: readonly Body[]) => bodies.map(({ data }) => data.step.kind).sort();

/** Sends until nothing is due that may be sent, with all attempts ended and written. Time stands still meanwhile. */
async function sendAll(): Promise<void> {
  const at = clock.now();
  const sender = plainSender(db, { timeoutMs: 120_000 });
  const troubles: unknown[] = [];
  const sending = startSending({
    db,
    senders: { WEBHOOK: sender, SLACK: sender },
    shortUrl: "https://go.example",
    owner: randomUUID(),
    now: () => at,
    random: () => 0.5,
    onTrouble: (error) => troubles.push(error),
    tickMs: 10,
  });
  await expect.poll(() => dueCount(at), waitLong).toBe(0);
  await sending.stop(120_000);
  expect(troubles).toEqual([]);
}

/** How many rows of the intake, and how many messages that may be sent, are due. */
async function dueCount(at: Date): Promise<number> {
  const { rows } = await sql<{ due: number }>`select ((select count(*) from outbox_intake)
    + (select count(*) from outbox_messages m join outbox_subscribers s on s.workspace_id = m.workspace_id
        and s.id = m.subscriber_id and s.status = 'ACTIVE'
      join workspaces w on w.id = m.workspace_id and w.deleted_at is null
      where m.next_attempt_at <= ${at}))::int as due`.execute(db);
  return rows[0]?.due ?? 0;
}

/** Replays everything, as often as there are parts. */
async function replayAll(key: { readonly workspaceId: string; readonly subscriberId: string }) {
  const at = clock.now();
  const span = { since: new Date(at.getTime() - hourMs), until: new Date(at.getTime() + hourMs) };
  let from: Awaited<ReturnType<typeof replayPart>>["next"];
  do from = (await replayPart(db, key, { ...span, includesDelivered: true }, { from, at })).next;
  while (from !== undefined);
}

async function ask(one: TestScan, { shortlink }: Pick<TestLink, "shortlink">, more: Record<string, string>) {
  return (await one.ask(`/${shortlink}`, { headers: { "user-agent": firefox, ...more } })).status;
}

/** A link with a page that leads on by a button. */
function pageLink() {
  return insertWorkflow(db, {
    entry: { action: "LINK_VISIT", next: { next: "page" } },
    page: {
      action: "MESSAGE_PAGE",
      payload: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
      next: { next: "done" },
    },
    done: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com" } },
  });
}

/** Opens a page link, and leaves the page by its button. */
async function walk(one: TestScan, { shortlink }: TestLink, headers: Readonly<Record<string, string>> = {}) {
  const visitor = newVisitor(one.port, { host: "go.example", "user-agent": firefox });
  const page = await visitor.get(`/${shortlink}`, headers);
  expect(page.status).toBe(200);
  await one.drained();
  const left = await visitor.post(formAction(page), {}, { origin: "https://go.example" });
  expect(left.status).toBe(302);
  await one.drained();
}

test("bots, agents, prefetches and identify calls send nothing, and a replay does not either", async () => {
  const workspace = await api.newWorkspace();
  const hook = await webhookOf(workspace);
  const visits = visitsThrough(scan, api, workspace);
  const link = await visits.newLink();
  const silent: Record<string, string>[] = [
    { "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" },
    { "user-agent": "ChatGPT-User/1.0" },
    { "user-agent": "WhatsApp/2.23.20.0" },
    { "user-agent": "curl/8.5.0" },
    { "sec-purpose": "prefetch" },
    { "sec-purpose": "prefetch;prerender" },
    { purpose: "prefetch" },
    { "x-purpose": "preview" },
  ];
  // A browser that fetches ahead is refused, and recorded.
  for (const headers of silent) expect([302, 503]).toContain(await ask(scan, link, headers));
  await scan.drained();
  const { eventId, lbid } = await visits.visit(link.shortlink);
  for (const city of ["Bonn", "Kiel"]) {
    const call = { lbid, visitor: { $email: "ada@example.com", city } };
    expect((await workspace.rest("POST", "/v1/visitor/identify", call)).status).toBe(200);
  }
  await sendAll();
  expect(kindsOf(hook.bodies())).toEqual(["KIND_ENTRY", "KIND_EXIT"]);
  await replayAll(hook.key);
  await sendAll();
  expect(kindsOf(hook.bodies())).toEqual(["KIND_ENTRY", "KIND_ENTRY", "KIND_EXIT", "KIND_EXIT"]);
  expect(eventsOf(hook.bodies())).toEqual([eventId]);
  const { rows } = await sql<{ kept: number }>`select count(*)::int as kept from events
    where workspace_id = ${workspace.workspaceId}`.execute(db);
  expect(rows[0]?.kept).toBe(1 + silent.length);
});

test("of a page that was only previewed, or shown to a bot, nothing is told until somebody answers it", async () => {
  const link = await pageLink();
  const hook = await webhookOf(link);
  const previewed = { "x-purpose": "preview" };
  expect(await ask(scan, link, previewed)).toBe(200);
  expect(await ask(scan, link, { "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1)" })).toBe(200);
  await scan.drained();
  await sendAll();
  expect(hook.bodies()).toEqual([]);
  await walk(scan, link, previewed);
  await sendAll();
  expect(kindsOf(hook.bodies())).not.toContain("KIND_ENTRY");
  expect(kindsOf(hook.bodies())).toContain("KIND_EXIT");
  expect(eventsOf(hook.bodies())).toHaveLength(1);
});

test("locked visits send nothing: neither when they come, nor when they answer pages, nor in a replay", async () => {
  const plans = readPlanTable({ plans: { FREE: { limits: { TRACKED_VISITS: 1 } } } }, true, []);
  const limited = await startTestScan(api.database, {
    store: createRecordStore(db, {
      classify: createClassifier(),
      geography: { placeOf: () => nowhere },
      key: "00".repeat(32),
      plans,
    }),
  });
  const link = await pageLink();
  const hook = await webhookOf(link);
  for (let visit = 0; visit < 3; visit++) await walk(limited, link);
  await sendAll();
  await replayAll(hook.key);
  await sendAll();
  const events = await db
    .selectFrom("events")
    .select(["id", "locked_number"])
    .where("workspace_id", "=", link.workspaceId)
    .execute();
  expect(events.map(({ locked_number }) => locked_number).sort()).toEqual([2, 3, null]);
  const open = events.filter(({ locked_number }) => locked_number === null).map(({ id }) => id);
  expect(eventsOf(hook.bodies())).toEqual(open);
});

test("a link that moves to another directory and another domain tells its own workspace, and its old address the new owner", async () => {
  const [one, other] = [await api.newWorkspace(), await api.newWorkspace()];
  const domain = { name: `go-${randomUUID().slice(0, 8)}.example` };
  const link = await insertLink(db, { workspaceId: one.workspaceId, domain });
  const [hook, foreign] = [await webhookOf(one), await webhookOf(other)];
  await storeVisits(db, link, { count: 1, at: clock.now() });
  const made = await one.rest("POST", "/v1/directories", { name: "Menus" });
  const directoryId = made.json.directory.id;
  expect((await one.rest("PATCH", `/v1/links/${link.id}`, { directoryId })).status).toBe(200);
  const host = `new-${domain.name}`;
  await sql`update shortlinks set host = ${host} where link_id = ${link.id}`.execute(db);
  await sql`update custom_domains set name = ${host} where workspace_id = ${one.workspaceId}`.execute(db);
  await sql`update domain_names set name = ${host} where name = ${domain.name}`.execute(db);
  // The other tenant takes the domain, with a link of the same address.
  const taken = await insertLink(db, { workspaceId: other.workspaceId, domain });
  await sql`update shortlinks set shortlink = ${link.shortlink} where link_id = ${taken.id}`.execute(db);
  await sql`update links set shortlink = ${link.shortlink} where id = ${taken.id}`.execute(db);
  await storeVisits(db, { ...taken, shortlink: link.shortlink }, { count: 1, at: clock.now() });
  await storeVisits(db, { ...link, host }, { count: 1, at: clock.now() });
  await sendAll();
  for (const [{ bodies }, { workspaceId }, linkId, count] of [
    [hook, one, link.id, 4],
    [foreign, other, taken.id, 2],
  ] as const) {
    const told = bodies().map(({ data }) => [data.event.workspaceId, data.event.linkId, data.link.id]);
    expect(told).toEqual(Array(count).fill([workspaceId, linkId, linkId]));
  }
});

test("a merged visitor is told to the visitor's own workspace alone, as the visitor that stayed", async () => {
  const [one, other] = [await api.newWorkspace(), await api.newWorkspace()];
  const [hook, foreign] = [await webhookOf(one), await webhookOf(other)];
  const person = { $email: "grace@example.com" };
  const identify = async ({ rest }: TestWorkspace, visitor: object, lbid?: string): Promise<string> =>
    (await rest("POST", "/v1/visitor/identify", { visitor, ...(lbid !== undefined && { lbid }) })).json
      .visitor.id;
  await identify(other, person);
  const profile = await identify(one, person);
  const visits = visitsThrough(scan, api, one);
  const { lbid, eventId, visitorId } = await visits.visit((await visits.newLink()).shortlink);
  expect(visitorId).not.toBe(profile);
  // A first attempt keeps the text, with the visitor who is merged before the second one.
  status = 500;
  await sendAll();
  expect(await identify(one, person, lbid)).toBe(profile);
  status = 204;
  await visits.visit((await visits.newLink()).shortlink);
  clock.advance(60_000);
  await sendAll();
  expect(foreign.bodies()).toEqual([]);
  const told = hook.bodies();
  expect(new Set(told.map(({ data }) => data.visitor.workspaceId))).toEqual(new Set([one.workspaceId]));
  const later = told.filter(({ data }) => data.event.id !== eventId);
  expect(later.map(({ data }) => data.visitor.id)).toEqual([profile, profile]);
});

test("nothing that waits for a deleted sandbox or a deleted workspace is sent, and its parent is told as before", async () => {
  const sandbox = await api.newSandbox();
  const { parent } = sandbox;
  const doomed = await api.newWorkspace();
  const worlds = await Promise.all(
    [sandbox, doomed, parent].map(async (each: TestSandbox | TestWorkspace) => ({
      ...(await webhookOf(each)),
      link: await insertLink(db, { workspaceId: each.workspaceId }),
    })),
  );
  const storeAll = async () => {
    for (const { link } of worlds) await storeVisits(db, link, { count: 2, at: clock.now() });
  };
  const told = () => worlds.map(({ bodies }) => bodies().length);
  status = 500;
  await storeAll();
  await sendAll();
  expect(told()).toEqual([4, 4, 4]);
  // Now some wait for another attempt, and some are steps without messages.
  await storeAll();
  expect((await parent.rest("DELETE", `/v1/sandboxes/${sandbox.workspaceId}`)).status).toBe(200);
  const end = { workspaceId: doomed.workspaceId, at: clock.now(), jobCalls };
  expect(await deleteWorkspace(db, end)).toEqual([doomed.workspaceId]);
  status = 204;
  clock.advance(60_000);
  await sendAll();
  expect(told()).toEqual([4, 4, 12]);
  for (const body of worlds.at(-1)?.bodies() ?? [])
    expect(body.data.event.workspaceId).toBe(parent.workspaceId);
});

test("messages that wait while a webhook is paused wait on, steps of that time are never told, and others are told later", async () => {
  const link = await insertLink(db);
  const hook = await webhookOf(link);
  const store = () => storeVisits(db, link, { count: 2, at: clock.now() });
  status = 500;
  await store();
  await sendAll();
  const before = eventsOf(hook.bodies());
  status = 204;
  await changeSubscriber(db, hook.key, { status: "PAUSED" }, clock.now());
  await store();
  clock.advance(60_000);
  await sendAll();
  expect(hook.bodies()).toHaveLength(4);
  await changeSubscriber(db, hook.key, { status: "ACTIVE" }, clock.now());
  await sendAll();
  expect(hook.bodies()).toHaveLength(8);
  expect(eventsOf(hook.bodies())).toEqual(before);
  await store();
  await sendAll();
  expect(hook.bodies()).toHaveLength(12);
});
