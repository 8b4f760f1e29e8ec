import { expect, test } from "vitest";
import type { SubscriptionType } from "../gen/database.ts";
import { endIdleVisits } from "../src/jobs/end-idle-visits.ts";
import { monthOf } from "../src/model/plans/cycle.ts";
import { readPlanTable } from "../src/model/plans/read-plan-table.ts";
import { createClassifier } from "../src/scan/device/classify.ts";
import { nowhere } from "../src/scan/device/geography.ts";
import { createRecordStore } from "../src/scan/store/store-records.ts";
import { middleOfMonth, tickingClock } from "./support/clock.ts";
import { insertWorkflow, type StepSeed } from "./support/insert-workflow.ts";
import { insertLink, insertWorkspace, startTestScan, type TestScan } from "./support/start-scan.ts";
import { testDatabase } from "./support/test-database.ts";

const database = await testDatabase();
const { db } = database;
const plans = readPlanTable({ plans: { PRO: { leadScores: 5 } } }, true, []);
const person = {
  "user-agent":
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
};
const flow = {
  entry: { action: "LINK_VISIT", next: { next: "page" } },
  page: {
    action: "MESSAGE_PAGE",
    payload: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
    next: { next: "done" },
  },
  done: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com" } },
} as const satisfies Record<string, StepSeed>;

/** Scores are counted by months. */
const { now } = tickingClock(middleOfMonth());

function startScan(inForce = true): Promise<TestScan> {
  return startTestScan(database, {
    now,
    store: createRecordStore(db, {
      classify: createClassifier(),
      geography: { placeOf: () => ({ ...nowhere, country: "DE" }) },
      key: "00".repeat(32),
      plans: { ...plans, inForce },
    }),
  });
}

async function workspaceOn(subscription_type: SubscriptionType): Promise<string> {
  const id = await insertWorkspace(db);
  await db.updateTable("workspaces").set({ subscription_type }).where("id", "=", id).execute();
  return id;
}

async function visit({ ask }: TestScan, { shortlink }: { shortlink: string }, count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    await ask(`/${shortlink}`, { headers: person, address: `91.0.0.${index}` });
}

/** Opens a page and answers it, which ends the visit. */
async function visitAndAnswer({ ask }: TestScan, { shortlink }: { shortlink: string }): Promise<void> {
  const page = await ask(`/${shortlink}`, { headers: person, address: "91.0.1.1" });
  const action = /action="([^"]+)"/.exec(page.body)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const headers = {
    ...person,
    origin: "https://go.example",
    "content-type": "application/x-www-form-urlencoded",
  };
  const { status } = await ask(action, { method: "POST", headers, address: "91.0.1.1", body: "" });
  expect(status).toBe(302);
}

/** Which visits of a workspace have a score, in order of arrival. */
async function scored(workspaceId: string): Promise<boolean[]> {
  const rows = await db
    .selectFrom("events")
    .select("lead_score")
    .where("workspace_id", "=", workspaceId)
    .orderBy("id")
    .execute();
  return rows.map(({ lead_score }) => lead_score !== null);
}

async function taken(workspaceId: string): Promise<bigint[]> {
  const rows = await db
    .selectFrom("allowance_cycles")
    .select("used")
    .where("workspace_id", "=", workspaceId)
    .where("limit_key", "=", "LEAD_SCORES")
    .orderBy("cycle")
    .execute();
  return rows.map(({ used }) => used);
}

const first = (scores: number, visits: number) =>
  Array.from({ length: visits }, (_, index) => index < scores);

test("a plan scores the first visits of a month, over any number of batches", async () => {
  const workspaceId = await workspaceOn("PRO_PLAN");
  const link = await insertLink(db, { workspaceId });
  const scan = await startScan();
  for (const count of [3, 4, 2]) {
    await visit(scan, link, count);
    await scan.drained();
  }
  expect(await scored(workspaceId)).toEqual(first(5, 9));
  expect(await taken(workspaceId)).toEqual([5n]);
});

test.each([
  ["UNSPECIFIED", true, 0],
  ["ENTERPRISE_PLAN", true, 7],
  ["UNSPECIFIED", false, 7],
] as const)(
  "on %s, with plans in force: %s, %i of 7 visits are scored and nothing is counted",
  async (plan, inForce, scores) => {
    const workspaceId = await workspaceOn(plan);
    const scan = await startScan(inForce);
    await visit(scan, await insertLink(db, { workspaceId }), 7);
    await scan.drained();
    expect(await scored(workspaceId)).toEqual(first(scores, 7));
    expect(await taken(workspaceId)).toEqual([]);
  },
);

test("visits that end at once, with an answer or by idleness take from the same scores", async () => {
  const workspaceId = await workspaceOn("PRO_PLAN");
  const [link, page] = [
    await insertLink(db, { workspaceId }),
    await insertWorkflow(db, flow, { workspaceId }),
  ];
  const scan = await startScan();
  await visit(scan, link, 2);
  await visitAndAnswer(scan, page);
  await visit(scan, page, 6);
  await scan.drained();
  expect(await scored(workspaceId)).toEqual(first(3, 9));
  const later = new Date(now().getTime() + 31 * 60_000);
  await Promise.all([1, 2, 3].map((batchSize) => endIdleVisits({ db, plans, now: () => later, batchSize })));
  expect((await scored(workspaceId)).filter(Boolean)).toHaveLength(5);
  expect((await taken(workspaceId)).at(-1)).toBe(5n);
  await visitAndAnswer(scan, page);
  await scan.drained();
  expect((await scored(workspaceId)).at(-1)).toBe(false);
});

test("several processes together score exactly as many as the plan allows, also in a month that nobody has begun", async () => {
  const workspaceId = await workspaceOn("PRO_PLAN");
  const links = [
    await insertLink(db, { workspaceId }),
    await insertWorkflow(db, flow, { workspaceId }),
    await insertLink(db, { workspaceId }),
  ];
  const scans = await Promise.all(links.map(() => startScan()));
  await Promise.all(scans.flatMap((scan) => links.map((link) => visit(scan, link, 4))));
  await Promise.all(scans.map((scan) => scan.drained()));
  expect((await scored(workspaceId)).filter(Boolean)).toHaveLength(5);
  expect(await taken(workspaceId)).toEqual([5n]);
});

test("a month begins with all scores, and a higher limit adds to those that are taken", async () => {
  const workspaceId = await workspaceOn("PRO_PLAN");
  const month = (days: number) => monthOf(new Date(now().getTime() + days * 86_400_000), "UTC");
  const limit = { workspace_id: workspaceId, limit_key: "LEAD_SCORES" };
  await db
    .insertInto("allowance_cycles")
    .values([
      { ...limit, cycle: month(-40), used: 5n },
      { ...limit, cycle: month(0), used: 2n },
    ])
    .execute();
  const scan = await startScan();
  await visit(scan, await insertLink(db, { workspaceId }), 6);
  await scan.drained();
  expect(await scored(workspaceId)).toEqual(first(3, 6));
  expect(await taken(workspaceId)).toEqual([5n, 5n]);
});
