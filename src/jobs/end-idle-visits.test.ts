import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { insertWorkflow, type StepSeed, type TestWorkflow } from "../../test/support/insert-workflow.ts";
import { startTestScan } from "../../test/support/start-scan.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { defaultPlans } from "../model/plans/plan-table.ts";
import { endIdleVisits } from "./end-idle-visits.ts";

const database = await testDatabase();
const { db } = database;

const person = {
  "user-agent":
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
};
const crawler = { "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" };
const flow = {
  entry: { action: "LINK_VISIT", next: { next: "page" } },
  page: {
    action: "MESSAGE_PAGE",
    payload: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
    next: { next: "done" },
  },
  done: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com" } },
} as const satisfies Record<string, StepSeed>;

type Link = TestWorkflow<keyof typeof flow>;

/** Visits the page of a link, and returns the event. */
async function visit(link: Link, headers: Readonly<Record<string, string>> = person) {
  const { ask, drained } = await startTestScan(database);
  await ask(`/${link.shortlink}`, { headers });
  await drained();
  const [event] = await eventsOf(link);
  if (event === undefined) throw new Error("the visit left no event");
  return event;
}

function eventsOf({ workspaceId }: Link) {
  return db.selectFrom("events").selectAll().where("workspace_id", "=", workspaceId).orderBy("id").execute();
}

function visitsOf({ workspaceId }: Link) {
  return db.selectFrom("visits").selectAll().where("workspace_id", "=", workspaceId).execute();
}

const minute = 60_000;
const after = (at: Date, minutes: number) => new Date(at.getTime() + minutes * minute);

test("a visit without activity for 30 minutes is ABANDONED as of its last activity, and scored", async () => {
  const link = await insertWorkflow(db, flow);
  const { created_at: cameAt } = await visit(link);
  const activeAt = after(cameAt, 2);
  await db
    .updateTable("visits")
    .set({ active_at: activeAt })
    .where("workspace_id", "=", link.workspaceId)
    .execute();

  await endIdleVisits({ db, plans: defaultPlans, now: () => new Date(after(activeAt, 30).getTime() - 1) });
  expect(await eventsOf(link)).toMatchObject([{ outcome: "IN_PROGRESS", ended_at: null, lead_score: null }]);
  expect(await visitsOf(link)).toHaveLength(1);

  const now = after(activeAt, 30);
  await endIdleVisits({ db, plans: defaultPlans, now: () => now });
  expect(await eventsOf(link)).toMatchObject([
    {
      outcome: "ABANDONED",
      ended_at: activeAt,
      updated_at: now,
      scored_at: now,
      destination: "",
      destination_action: null,
      steps_reached: 2,
      steps_total: 3,
      // One of three steps completed, and a minute or more on a page.
      engagement_level: Math.floor(80 / 3 + 20 + 0.5),
      recurring_interest: 0,
      recurring_scans: null,
      lead_score: expect.any(Number),
    },
  ]);
  expect(await visitsOf(link)).toEqual([]);
});

test("the score of an abandoned visit counts only the visits before it", async () => {
  const link = await insertWorkflow(db, flow);
  const { ask, drained } = await startTestScan(database);
  // The same person, who is told by the cookie.
  const cookie = `svc_did=${randomUUID()}`;
  for (let again = 0; again < 3; again++) await ask(`/${link.shortlink}`, { headers: { ...person, cookie } });
  await drained();
  await endIdleVisits({ db, plans: defaultPlans, now: () => after(new Date(), 31) });
  const events = await eventsOf(link);
  expect(
    events.map(({ recurring_scans, recurring_interest }) => [recurring_scans, recurring_interest]),
  ).toEqual([
    [null, 0],
    [1, 25],
    [2, 50],
  ]);
});

test("visits of bots end too, without a score", async () => {
  const link = await insertWorkflow(db, flow);
  const { created_at } = await visit(link, crawler);
  await endIdleVisits({ db, plans: defaultPlans, now: () => after(created_at, 31) });
  expect(await eventsOf(link)).toMatchObject([{ outcome: "ABANDONED", lead_score: null }]);
});

test("visits of all workspaces end, each once, with several processes and small batches", async () => {
  const links = await Promise.all(Array.from({ length: 3 }, () => insertWorkflow(db, flow)));
  const { ask, drained } = await startTestScan(database);
  for (let turn = 0; turn < 8; turn++)
    for (const link of links) await ask(`/${link.shortlink}`, { headers: person, address: `91.0.0.${turn}` });
  await drained();
  const now = () => after(new Date(), 31);
  await Promise.all([1, 2, 3].map((batchSize) => endIdleVisits({ db, plans: defaultPlans, now, batchSize })));
  for (const link of links) {
    const events = await eventsOf(link);
    expect(events).toHaveLength(8);
    for (const event of events)
      expect(event).toMatchObject({ outcome: "ABANDONED", lead_score: expect.any(Number) });
  }
});

test("a visit that another transaction holds is skipped", async () => {
  const link = await insertWorkflow(db, flow);
  const { created_at, id } = await visit(link);
  const now = () => after(created_at, 31);
  await db.transaction().execute(async (tx) => {
    await sql`select from visits where workspace_id = ${link.workspaceId} and event_id = ${id}
      for no key update`.execute(tx);
    await endIdleVisits({ db, plans: defaultPlans, now });
  });
  expect(await eventsOf(link)).toMatchObject([{ outcome: "IN_PROGRESS" }]);
  await endIdleVisits({ db, plans: defaultPlans, now });
  expect(await eventsOf(link)).toMatchObject([{ outcome: "ABANDONED" }]);
});
