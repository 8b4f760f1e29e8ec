import { expect, test } from "vitest";
import { insertWorkflow } from "../../../test/support/insert-workflow.ts";
import { insertLink, startTestScan, type TestLink } from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { rebuildRollUps } from "../../visitors/roll-ups.ts";

const database = await testDatabase();
const { db } = database;

const windows =
  "Mozilla/5.0 (Windows NT 6.1; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/9999.0.0.0 Safari/537.36";
const person = { "user-agent": windows, cookie: "svc_did=5a7d9c1e-0b63-4f52-9e1d-8f3a2c4b6d70" };
const crawler = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const assistant =
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)";
const german = "91.0.0.1";

function scoresOf({ workspaceId }: TestLink) {
  return db
    .selectFrom("events")
    .select([
      "lead_score",
      "engagement_level",
      "technological_aptitude",
      "recurring_interest",
      "brand_supportiveness",
      "profile_fit",
      "recurring_scans",
    ])
    .where("workspace_id", "=", workspaceId)
    .orderBy("id")
    .execute();
}

const unscored = {
  lead_score: null,
  engagement_level: null,
  technological_aptitude: null,
  recurring_interest: null,
  brand_supportiveness: null,
  profile_fit: null,
  recurring_scans: null,
};

test("scores visits that end with their first request, by the visits before them in and beyond their batch", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertLink(db);
  const visit = () => ask(`/${link.shortlink}`, { headers: person, address: german });
  await visit();
  await drained();
  for (let again = 0; again < 5; again++) await visit();
  await drained();
  // A release of Chrome that is yet to come, on Windows 7: four releases behind 11.
  const own = {
    engagement_level: 80,
    technological_aptitude: 80,
    brand_supportiveness: null,
    profile_fit: null,
  };
  const scored = (recurring_interest: number, recurring_scans: number | null) => ({
    ...own,
    recurring_interest,
    recurring_scans,
    lead_score: Math.floor((80 + 80 + recurring_interest) / 3 + 0.5),
  });
  expect(await scoresOf(link)).toEqual([
    scored(0, null),
    scored(25, 1),
    scored(50, 2),
    scored(75, 3),
    scored(100, 4),
    scored(100, 5),
  ]);
  const [first] = await db
    .selectFrom("events")
    .selectAll()
    .where("workspace_id", "=", link.workspaceId)
    .orderBy("id")
    .execute();
  expect(first?.scored_at).toEqual(first?.ended_at);
});

test.each([
  ["a bot", { headers: { "user-agent": crawler } }, {}],
  ["an agent", { headers: { "user-agent": assistant } }, {}],
  ["a prefetch", { headers: { ...person, "sec-purpose": "prefetch" } }, {}],
  ["a sandbox", { headers: person }, { environment: "test" }],
] as const)("does not score %s", async (_, ask, options) => {
  const scan = await startTestScan(database);
  const link = await insertLink(db, options);
  await scan.ask(`/${link.shortlink}`, ask);
  await scan.drained();
  expect(await scoresOf(link)).toEqual([unscored]);
});

test("does not score a visit that is under way", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertWorkflow(db, {
    entry: { action: "LINK_VISIT", next: { next: "page" } },
    page: {
      action: "MESSAGE_PAGE",
      payload: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
    },
  });
  await ask(`/${link.shortlink}`, { headers: person });
  await drained();
  expect(await scoresOf(link)).toEqual([unscored]);
});

test("at level NONE a score uses neither the device's software nor earlier visits", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertLink(db, { dataCollection: "NONE" });
  await ask(`/${link.shortlink}`, { headers: person });
  await drained();
  expect(await scoresOf(link)).toEqual([{ ...unscored, lead_score: 80, engagement_level: 80 }]);
});

test("scores a fallback by the share of the steps that were still ahead", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertWorkflow(
    db,
    {
      entry: { action: "LINK_VISIT", next: { next: "where" } },
      where: {
        action: "COUNTRY_CONDITION",
        payload: { countries: [{ countryCode: "FR" }] },
        next: { FR: "done" },
      },
      done: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com" } },
    },
    { dataCollection: "NONE", fallback: "https://example.com/lost" },
  );
  await ask(`/${link.shortlink}`, { headers: person, address: german });
  await drained();
  // The visit reached one of two steps.
  expect(await scoresOf(link)).toMatchObject([{ engagement_level: 40 }]);
});

test.each([
  ["Leads from Germany and Austria", 100],
  ["Leads from France", 0],
  ["Leads", null],
])("weighs how well the visitor fits the purpose %j", async (purpose, profile_fit) => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertLink(db);
  await db.updateTable("links").set({ purpose }).where("id", "=", link.id).execute();
  await ask(`/${link.shortlink}`, { headers: person, address: german });
  await drained();
  expect(await scoresOf(link)).toMatchObject([{ profile_fit }]);
});

test("a rebuild makes the same roll-ups from scored visits and from visits under way", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertLink(db);
  for (let again = 0; again < 3; again++) await ask(`/${link.shortlink}`, { headers: person });
  await drained();
  const visitorLinks = () =>
    db.selectFrom("visitor_links").selectAll().where("workspace_id", "=", link.workspaceId).execute();
  const kept = await visitorLinks();
  expect(kept).toMatchObject([{ event_count: 3n }]);
  await rebuildRollUps(db, link.workspaceId);
  expect(await visitorLinks()).toEqual(kept);
});
