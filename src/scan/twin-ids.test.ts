import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { chunkOf } from "../../test/support/chunk-of.ts";
import { insertWorkflow } from "../../test/support/insert-workflow.ts";
import { insertWorkspace } from "../../test/support/start-scan.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { visitOf } from "../../test/support/workflow.ts";
import { loadPlanOfLink } from "../db/load-plan.ts";
import { compilePlan, type Plan } from "../model/workflow/plan.ts";
import { rebuildRollUps } from "../visitors/roll-ups.ts";
import { decide } from "../workflow/decide.ts";
import { journeyOf } from "../workflow/journey.ts";
import { createClassifier } from "./device/classify.ts";
import { nowhere } from "./device/geography.ts";
import type { RecordText } from "./spool/framed-records.ts";
import { encodeVisit } from "./spool/record-format.ts";
import { createVisitIds } from "./spool/visit-id.ts";
import { createRecordStore } from "./store/store-records.ts";

/*
 * Ids are unique only together with their workspace, because clients choose those of links, steps and designs. Here all
 * other ids are the same too. Two workspaces with equal ids must get out of one batch what each gets alone.
 */

const database = await testDatabase();
const { db } = database;

const startMs = Date.UTC(2026, 7, 1, 12);
/** When all batches are stored. An event says how late it was, and equal visits have to be equally late. */
const storedAt = new Date(startMs + 3_600_000);
const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
const newVisitId = createVisitIds();
const ids = Array.from({ length: 6 }, (_, index) => newVisitId(startMs + index));
const cookie = "7a1c8b52-3f0e-4d5a-9b6c-2e8f1d4a7c30";

interface Recorded {
  readonly id: Buffer;
  readonly text: RecordText;
}

/** One visit of a tenant: its id, its link and its request. */
interface Visited {
  readonly id: number;
  readonly link: "redirect" | "page";
  readonly country?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Tenant {
  readonly purpose: string;
  readonly visits: readonly Visited[];
}

// The tenants give the same ids to different visits: their number, places, devices and order of links differ.
const tenants: { readonly one: Tenant; readonly other: Tenant } = {
  one: {
    purpose: "Leads from Germany",
    visits: [
      { id: 0, link: "redirect" },
      { id: 1, link: "redirect" },
      { id: 2, link: "page" },
      { id: 3, link: "redirect" },
    ],
  },
  other: {
    purpose: "Leads from France",
    visits: [
      { id: 0, link: "page", country: "FR" },
      { id: 1, link: "redirect", country: "FR", headers: { "sec-purpose": "prefetch" } },
      { id: 3, link: "redirect", country: "FR" },
      { id: 4, link: "redirect", country: "FR" },
      { id: 5, link: "page", country: "FR" },
    ],
  },
};

const links = await templates();

/** The links that every tenant gets under the same ids, made once. */
async function templates() {
  const workspaceId = await insertWorkspace(db);
  const entry = (next: string) => ({ action: "LINK_VISIT", next: { next } }) as const;
  const redirect = await insertWorkflow(
    db,
    {
      entry: {
        ...entry("where"),
        capture: {
          enabled: true,
          writes: [
            { key: "plan", value: "{{link.name}}" },
            { key: "seen", value: "yes" },
          ],
        },
      },
      where: {
        action: "COUNTRY_CONDITION",
        payload: { countries: [{ countryCode: "FR" }] },
        next: { FR: "done", else: "done" },
      },
      done: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com" } },
    },
    { workspaceId },
  );
  const page = await insertWorkflow(
    db,
    {
      entry: entry("page"),
      page: {
        action: "MESSAGE_PAGE",
        payload: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
      },
    },
    { workspaceId },
  );
  return { workspaceId, redirect, page };
}

/** A workspace with both links, under the same ids as all others. */
async function newTwin({ purpose }: Tenant): Promise<string> {
  const workspaceId = await insertWorkspace(db);
  for (const table of ["links", "workflow_steps", "workflow_connections"] as const) {
    const rows = await db
      .selectFrom(table)
      .selectAll()
      .where("workspace_id", "=", links.workspaceId)
      .execute();
    for (const row of rows) {
      await sql`insert into ${sql.table(table)} select (jsonb_populate_record(null::${sql.table(table)},
        ${JSON.stringify({ ...row, workspace_id: workspaceId })}::jsonb)).*`.execute(db);
    }
  }
  await db.updateTable("links").set({ purpose }).where("workspace_id", "=", workspaceId).execute();
  return workspaceId;
}

async function recordsOf(workspaceId: string, { visits }: Tenant): Promise<Recorded[]> {
  const plans = { redirect: await planOf(workspaceId, "redirect"), page: await planOf(workspaceId, "page") };
  return visits.map(({ id: number, link, country = "DE", headers = {} }) => {
    const id = ids[number] ?? newVisitId(startMs);
    const plan = plans[link];
    const seen = {
      id,
      action: "CLICK" as const,
      level: "ADVANCED" as const,
      headers: { "user-agent": phone, "accept-language": "de", ...headers },
      address: country === "DE" ? "81.2.3.4" : "90.2.3.4",
      cookie,
      cookieWasSent: number > 0,
      query: `from=${country}`,
    };
    const visit = visitOf({ query: seen.query, dataCollection: "ADVANCED", country });
    const walk = decide(plan, visit, new Date(startMs + number));
    return { id, text: encodeVisit(plan, seen, walk, journeyOf(plan, walk)) };
  });
}

async function planOf(workspaceId: string, link: "redirect" | "page"): Promise<Plan> {
  const row = await loadPlanOfLink(db, workspaceId, links[link].id);
  if (row === undefined) throw new Error("the link was made before");
  return compilePlan(row, "https://go.example/twin");
}

/** Stores records as one batch of the spool. Returns how many of them were new. */
async function store(records: readonly Recorded[]): Promise<number> {
  const storeRecords = createRecordStore(db, {
    classify: createClassifier(),
    geography: { placeOf: (address) => ({ ...nowhere, country: address.startsWith("81.") ? "DE" : "FR" }) },
    key: "00".repeat(32),
  });
  const { written, poison } = await storeRecords([chunkOf(records)], storedAt);
  expect(poison).toEqual([]);
  return written;
}

const tables = [
  "events",
  "visit_traces",
  "visits",
  "visitors",
  "visitor_attributes",
  "visitor_links",
  "devices",
  "device_links",
  "link_counters",
] as const;

/**
 * Everything that visits left in a workspace, except what is made from the workspace's own id, and numbers, which no two
 * rows of the service have in common.
 */
async function leftIn(workspaceId: string): Promise<Readonly<Record<string, unknown[]>>> {
  const left: Record<string, unknown[]> = {};
  for (const table of tables) {
    const { rows } = await sql<{ row: unknown }>`
      select to_jsonb(t) - 'workspace_id' - 'fingerprint' - 'number' as row from ${sql.table(table)} t
      where workspace_id = ${workspaceId} order by 1`.execute(db);
    left[table] = rows.map(({ row }) => row);
  }
  return left;
}

describe("two workspaces whose links, steps, visitors, devices and visits have the same ids", () => {
  const both = [tenants.one, tenants.other];
  let together: readonly string[];
  let alone: readonly string[];
  let mixed: readonly Recorded[];

  beforeAll(async () => {
    together = await Promise.all(both.map(newTwin));
    alone = await Promise.all(both.map(newTwin));
    for (const [index, tenant] of both.entries())
      expect(await store(await recordsOf(alone[index] ?? "", tenant))).toBe(tenant.visits.length);
    // One batch, in which the visits of both alternate.
    const [one = [], other = []] = await Promise.all(
      both.map((tenant, index) => recordsOf(together[index] ?? "", tenant)),
    );
    mixed = other.flatMap((record, index) => [record, ...one.slice(index, index + 1)]);
    expect(await store(mixed)).toBe(one.length + other.length);
  });

  test.each([
    ["the first", 0],
    ["the second", 1],
  ])("%s gets out of a common batch what it gets alone", async (_, index) => {
    const left = await leftIn(together[index] ?? "");
    expect(left).toEqual(await leftIn(alone[index] ?? ""));
    for (const table of tables) expect(left[table], table).not.toEqual([]);
  });

  test("each is scored by its own purpose and its own visits", async () => {
    const scoresOf = (workspaceId = "") =>
      db
        .selectFrom("events")
        .select(["profile_fit", "recurring_scans", "visit_type"])
        .where("workspace_id", "=", workspaceId)
        .where("link_id", "=", links.redirect.id)
        .where("counted", "=", true)
        .orderBy("id")
        .execute();
    expect(await scoresOf(together[0])).toEqual([
      { profile_fit: 100, recurring_scans: null, visit_type: "FIRST" },
      { profile_fit: 100, recurring_scans: 1, visit_type: "RETURNING" },
      { profile_fit: 100, recurring_scans: 2, visit_type: "RETURNING" },
    ]);
    expect(await scoresOf(together[1])).toEqual([
      { profile_fit: 100, recurring_scans: null, visit_type: "FIRST" },
      { profile_fit: 100, recurring_scans: 1, visit_type: "RETURNING" },
    ]);
  });

  test("stored visits are not stored again, and another workspace with the same ids still stores its own", async () => {
    const before = await Promise.all(together.map(leftIn));
    expect(await store(mixed)).toBe(0);
    expect(await Promise.all(together.map(leftIn))).toEqual(before);
    const third = await newTwin(tenants.one);
    const fresh = await recordsOf(third, tenants.one);
    expect(await store([...mixed, ...fresh])).toBe(fresh.length);
    expect(await leftIn(third)).toEqual(await leftIn(alone[0] ?? ""));
  });

  test("a rebuild from each one's own visits makes the same roll-ups", async () => {
    const before = await Promise.all(together.map(leftIn));
    for (const workspaceId of together) await rebuildRollUps(db, workspaceId);
    expect(await Promise.all(together.map(leftIn))).toEqual(before);
  });
});
