import { sql } from "kysely";
import { expect, test } from "vitest";
import { EventsService } from "../gen/signpost/v1/events_service_pb.js";
import { createEntitlements } from "../src/db/entitlements.ts";
import type { Db } from "../src/db/open.ts";
import { endIdleVisits } from "../src/jobs/end-idle-visits.ts";
import { cycleOf } from "../src/model/plans/cycle.ts";
import type { PlanTable } from "../src/model/plans/plan-table.ts";
import { readPlanTable } from "../src/model/plans/read-plan-table.ts";
import { lbidOfEvent } from "../src/model/visitors/lbid.ts";
import { createClassifier } from "../src/scan/device/classify.ts";
import { nowhere } from "../src/scan/device/geography.ts";
import { createRecordStore } from "../src/scan/store/store-records.ts";
import { revealVisits } from "../src/visitors/reveal-visits.ts";
import { rebuildRollUps } from "../src/visitors/roll-ups.ts";
import { middleOfMonth, tickingClock } from "./support/clock.ts";
import { insertWorkflow } from "./support/insert-workflow.ts";
import { startApi, type TestWorkspace } from "./support/start-api.ts";
import { startTestScan, type TestScan } from "./support/start-scan.ts";
import { eventually } from "./support/start-service.ts";

function plansWith(TRACKED_VISITS: number): PlanTable {
  return readPlanTable({ plans: { FREE: { limits: { TRACKED_VISITS } } } }, true, []);
}

const plans = plansWith(5);
// All visits are of one cycle, whenever the test runs.
const clock = tickingClock(middleOfMonth());
const api = await startApi({
  clock,
  deps: { plans, entitlements: createEntitlements({ plans, now: clock.now }) },
});
const { db } = api;

const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
const crawler = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

function scanWith(limits: PlanTable): Promise<TestScan> {
  return startTestScan(api.database, {
    shortUrl: "https://short.test",
    now: clock.now,
    store: createRecordStore(db, {
      classify: createClassifier(),
      geography: { placeOf: () => ({ ...nowhere, country: "DE" }) },
      key: "00".repeat(32),
      plans: limits,
    }),
  });
}

async function limitedWorkspace(more = {}): Promise<TestWorkspace> {
  const workspace = await api.newWorkspace();
  await db
    .updateTable("workspaces")
    .set({ subscription_type: "UNSPECIFIED", ...more })
    .where("id", "=", workspace.workspaceId)
    .execute();
  return workspace;
}

async function newLink({ rest }: TestWorkspace): Promise<{ id: string; shortlink: string }> {
  return (await rest("POST", "/v1/links", { destination: "https://example.com" })).json.link;
}

async function visit({ ask }: TestScan, link: { shortlink: string }, count: number, agent = phone) {
  for (let index = 0; index < count; index++) {
    const answer = await ask(`/${link.shortlink}`, {
      host: "short.test",
      headers: { "user-agent": agent },
      address: `81.2.3.${index % 4}`,
    });
    expect(answer.status).toBe(302);
  }
}

/** Everything that counts, as one text, independent of the order in which it was written. */
async function figures({ workspaceId }: TestWorkspace): Promise<string> {
  const { rows } = await sql<{ dump: string }>`
    select coalesce(string_agg(line, chr(10) order by line), '') as dump from (
      select 'counter ' || c::text as line from link_counters c where workspace_id = ${workspaceId}
      union all select 'visitor ' || v::text from visitor_links v where workspace_id = ${workspaceId}) as lines`.execute(
    db,
  );
  return rows[0]?.dump ?? "";
}

/** Expects that every figure of the workspace says what its event list says. */
async function expectCounted(workspace: TestWorkspace, linkId: string, counted: number): Promise<void> {
  const { rest } = workspace;
  const list = (await rest("GET", "/v1/events?counted=true")).json.json;
  expect([list.events.length, list.totalCount]).toEqual([counted, String(counted)]);
  const ofLink = (await rest("GET", `/v1/events?linkId=${linkId}&counted=true`)).json.json;
  expect(ofLink.totalCount).toBe(String(counted));
  const csv = (await rest("GET", "/v1/events?counted=true&responseFormat=RESPONSE_FORMAT_CSV")).json.csv;
  expect(csv.csvData.trim().split("\r\n").length - 1).toBe(counted);
  const overGrpc = await workspace.client(EventsService).listEvents({ counted: true });
  expect(overGrpc.json?.events.length).toBe(counted);
  expect((await rest("GET", `/v1/links/${linkId}`)).json.link.eventCount).toBe(String(counted));
  const visitors = (await rest("GET", "/v1/visitors?include=events,links")).json.json.visitors;
  const sum = (read: (visitor: { visitCount: string; events: unknown[] }) => number) =>
    visitors.map(read).reduce((all: number, one: number) => all + one, 0);
  expect(sum(({ visitCount }) => Number(visitCount))).toBe(counted);
  expect(sum(({ events }) => events.length)).toBe(counted);
  const [startDate, endDate] = [-1, 1].map((days) =>
    new Date(clock.now().getTime() + days * 86_400_000).toISOString(),
  );
  const question = { dimension: "visit_type", startDate, endDate };
  const { json: byType } = await rest("POST", "/v1/analytics/breakdown", question);
  expect(byType.total).toBe(counted);
  const kept = await figures(workspace);
  await rebuildRollUps(db, workspace.workspaceId);
  expect(await figures(workspace)).toBe(kept);
}

async function lockedIds({ workspaceId }: TestWorkspace): Promise<string[]> {
  const rows = await db
    .selectFrom("events")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("locked_number", "is not", null)
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

async function cycleRow({ workspaceId }: TestWorkspace) {
  return db
    .selectFrom("allowance_cycles")
    .select(["used", "locked"])
    .where("workspace_id", "=", workspaceId)
    .where("limit_key", "=", "TRACKED_VISITS")
    .executeTakeFirst();
}

test("visits beyond the limit are answered and kept, and no list, call or figure tells of them", async () => {
  const workspace = await limitedWorkspace();
  const scan = await scanWith(plans);
  const link = await newLink(workspace);
  await visit(scan, link, 3);
  await visit(scan, link, 2, crawler);
  await visit(scan, link, 9);
  await scan.drained();
  expect(await cycleRow(workspace)).toEqual({ used: 12n, locked: 7n });
  await expectCounted(workspace, link.id, 5);
  // Those of crawlers are neither counted nor locked.
  expect((await workspace.rest("GET", "/v1/events")).json.json.totalCount).toBe("7");
  const locked = await lockedIds(workspace);
  expect(locked.length).toBe(7);
  for (const id of locked.slice(0, 2)) {
    expect((await workspace.rest("GET", `/v1/events/${id}/traces`)).status).toBe(404);
    const score = await workspace.rest("GET", `/v1/links/${link.id}/lead-score/${id}`);
    expect(score.status).toBe(404);
    await expect(workspace.client(EventsService).listEventTraces({ eventId: id })).rejects.toThrow(id);
  }
  const { rows } = await sql`select from events where workspace_id = ${workspace.workspaceId}
    and locked_number is not null and lead_score is not null`.execute(db);
  expect(rows).toEqual([]);
});

test("a locked visit still leads to a profile, which stays without its visit until it is revealed", async () => {
  const workspace = await limitedWorkspace();
  const scan = await scanWith(plans);
  const link = await newLink(workspace);
  await visit(scan, link, 6);
  await scan.drained();
  const [id = ""] = await lockedIds(workspace);
  const identified = await workspace.rest("POST", "/v1/visitor/identify", {
    lbid: lbidOfEvent(id),
    visitor: { $email: "ada@example.com" },
  });
  expect(identified).toMatchObject({ status: 200, json: { visitor: { email: "ada@example.com" } } });
  await expectCounted(workspace, link.id, 5);
  await revealVisits({ db, plans: plansWith(6), now: api.now });
  await expectCounted(workspace, link.id, 6);
});

test("a higher limit reveals what fits it for good, and every figure follows", async () => {
  const workspace = await limitedWorkspace();
  const scan = await scanWith(plans);
  const link = await newLink(workspace);
  await visit(scan, link, 12);
  await scan.drained();
  const [sixth] = await lockedIds(workspace);
  await revealVisits({ db, plans: plansWith(8), now: api.now, batchSize: 2 });
  await expectCounted(workspace, link.id, 8);
  expect(await cycleRow(workspace)).toEqual({ used: 12n, locked: 4n });
  expect((await workspace.rest("GET", `/v1/events/${sixth}/traces`)).json.traces.length).toBe(2);
  // A lower limit locks nothing again, and a revealed visit gets no score later.
  await revealVisits({ db, plans, now: api.now });
  await expectCounted(workspace, link.id, 8);
  const score = await workspace.rest("GET", `/v1/links/${link.id}/lead-score/${sixth}`);
  expect(score.json.error.codeType).toBe("LEAD_SCORE_NOT_FOUND");
  await Promise.all(
    [1, 2, 3].map(() => revealVisits({ db, plans: { ...plans, inForce: false }, now: api.now })),
  );
  await expectCounted(workspace, link.id, 12);
  expect(await cycleRow(workspace)).toEqual({ used: 12n, locked: 0n });
});

test("visits of several months are revealed by their own numbers, some at a time", async () => {
  const workspace = await limitedWorkspace();
  const scan = await scanWith(plans);
  const link = await newLink(workspace);
  await visit(scan, link, 15);
  await scan.drained();
  // The last four become the sixth to ninth visit of an earlier month.
  const earlier = (await lockedIds(workspace)).slice(-4);
  const { workspaceId } = workspace;
  await sql`update events set locked_cycle = '2000-01', locked_number = locked_number - 6
    where workspace_id = ${workspaceId} and id = any(${earlier}::uuid[])`.execute(db);
  await sql`update allowance_cycles set used = 11, locked = 6
    where workspace_id = ${workspaceId} and limit_key = 'TRACKED_VISITS'`.execute(db);
  await sql`insert into allowance_cycles (workspace_id, limit_key, cycle, used, locked)
    values (${workspaceId}, 'TRACKED_VISITS', '2000-01', 9, 4)`.execute(db);
  const locked = async () => {
    const { rows } = await sql<{ locked: number }>`select locked::int from allowance_cycles
      where workspace_id = ${workspaceId} and limit_key = 'TRACKED_VISITS' order by cycle`.execute(db);
    return rows.map((row) => row.locked);
  };
  await revealVisits({ db, plans: plansWith(8), now: api.now, batchSize: 2 });
  await expectCounted(workspace, link.id, 11);
  expect(await locked()).toEqual([1, 3]);
  await revealVisits({ db, plans: plansWith(20), now: api.now, batchSize: 2 });
  await expectCounted(workspace, link.id, 15);
  expect(await locked()).toEqual([0, 0]);
});

test("a month with nothing to reveal is left alone, and an unlimited one is locked after the roll-ups", async () => {
  const workspace = await limitedWorkspace();
  const scan = await scanWith(plans);
  const link = await newLink(workspace);
  await visit(scan, link, 7);
  await scan.drained();
  const { workspaceId } = workspace;
  const cycle = sql`select from allowance_cycles where workspace_id = ${workspaceId}
    and limit_key = 'TRACKED_VISITS' for no key update`;
  await db.transaction().execute(async (tx) => {
    await cycle.execute(tx);
    await revealVisits({ db, plans, now: api.now });
  });
  let revealed: Promise<void> | undefined;
  await db.transaction().execute(async (tx) => {
    await sql`select from link_counters where workspace_id = ${workspaceId} for update`.execute(tx);
    revealed = revealVisits({ db, plans: { ...plans, inForce: false }, now: api.now });
    await eventually(
      () => waitingOf(tx),
      (count) => count > 0,
      10_000,
    );
    // As the drain does, which would meet a deadlock here.
    await sql`${cycle} nowait`.execute(tx);
  });
  await revealed;
  await expectCounted(workspace, link.id, 7);
});

/** How many statements of this file's database wait for a lock. */
async function waitingOf(tx: Db): Promise<number> {
  const { rows } = await sql`select from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and a.datname = current_database()`.execute(tx);
  return rows.length;
}

test("a visit that is revealed while it is under way gets no lead score when it ends", async () => {
  const link = await insertWorkflow(db, {
    entry: { action: "LINK_VISIT", next: { next: "page" } },
    page: {
      action: "MESSAGE_PAGE",
      payload: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
      next: { next: "done" },
    },
    done: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com" } },
  });
  const scan = await scanWith(plans);
  for (let index = 0; index < 7; index++)
    await scan.ask(`/${link.shortlink}`, { host: "short.test", headers: { "user-agent": phone } });
  await scan.drained();
  await revealVisits({ db, plans: plansWith(6), now: api.now });
  // Without plans, scores are unlimited.
  const later = () => new Date(clock.now().getTime() + 31 * 60_000);
  await endIdleVisits({ db, plans: { ...plans, inForce: false }, now: later });
  const events = await db
    .selectFrom("events")
    .select(["outcome", "locked_number", "lead_score"])
    .where("workspace_id", "=", link.workspaceId)
    .orderBy("id")
    .execute();
  expect(events.map(({ outcome }) => outcome)).toEqual(Array(7).fill("ABANDONED"));
  expect(events.map(({ locked_number }) => locked_number)).toEqual([...Array(6).fill(null), 7]);
  expect(events.map(({ lead_score }) => lead_score !== null)).toEqual([
    ...Array(5).fill(true),
    ...Array(2).fill(false),
  ]);
});

test("visits that several processes store at the same time are locked beyond exactly the limit", async () => {
  const workspace = await limitedWorkspace();
  const scans = await Promise.all([1, 2, 3].map(() => scanWith(plansWith(20))));
  const link = await newLink(workspace);
  await Promise.all(scans.map((scan) => visit(scan, link, 15)));
  await Promise.all(scans.map((scan) => scan.drained()));
  await expectCounted(workspace, link.id, 20);
  const { rows } = await sql<{ locked_number: number }>`select locked_number from events
    where workspace_id = ${workspace.workspaceId} and locked_number is not null order by 1`.execute(db);
  expect(rows.map(({ locked_number }) => locked_number)).toEqual(
    Array.from({ length: 25 }, (_, index) => 21 + index),
  );
});

test("a workspace that becomes limited within a month begins with the visits of that month", async () => {
  const workspace = await limitedWorkspace({ subscription_type: "ENTERPRISE_PLAN" });
  const scan = await scanWith(plans);
  const link = await newLink(workspace);
  await visit(scan, link, 4);
  await scan.drained();
  expect(await cycleRow(workspace)).toEqual({ used: 4n, locked: 0n });
  await db
    .updateTable("workspaces")
    .set({ subscription_type: "UNSPECIFIED" })
    .where("id", "=", workspace.workspaceId)
    .execute();
  await visit(scan, link, 3);
  await scan.drained();
  expect(await cycleRow(workspace)).toEqual({ used: 7n, locked: 2n });
  await expectCounted(workspace, link.id, 5);
});

test("administrators get a mail when 80 and 100 percent of the visits have come", async () => {
  const workspace = await limitedWorkspace();
  const scan = await scanWith(plans);
  const link = await newLink(workspace);
  for (const count of [3, 1, 1, 2]) {
    await visit(scan, link, count);
    await scan.drained();
  }
  const { rows } = await sql<{ facts: string }>`
    select payload->>'facts' as facts from graphile_worker._private_jobs
    where payload->>'workspaceId' = ${workspace.workspaceId} and payload->>'kind' = 'quota' order by id`.execute(
    db,
  );
  expect(rows.map(({ facts }) => JSON.parse(facts))).toEqual([
    { limit: "TRACKED_VISITS", percent: 80, used: 4, allowed: 5 },
    { limit: "TRACKED_VISITS", percent: 100, used: 5, allowed: 5 },
  ]);
});

test("a sandbox records no counted visit beyond its cap, and its links still resolve", async () => {
  const sandbox = await limitedWorkspace({ environment: "test", subscription_type: "ENTERPRISE_PLAN" });
  const cycle = cycleOf(clock.now(), "UTC").month;
  await db
    .insertInto("allowance_cycles")
    .values({ workspace_id: sandbox.workspaceId, limit_key: "TRACKED_VISITS", cycle, used: 497n })
    .execute();
  const scan = await scanWith(plans);
  const link = await newLink(sandbox);
  await visit(scan, link, 5);
  await visit(scan, link, 2, crawler);
  await scan.drained();
  await visit(scan, link, 2);
  await scan.drained();
  expect(await cycleRow(sandbox)).toEqual({ used: 500n, locked: 0n });
  await expectCounted(sandbox, link.id, 3);
  expect((await sandbox.rest("GET", "/v1/events")).json.json.totalCount).toBe("5");
});
