import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { insertLink, insertWorkspace, startTestScan } from "../../test/support/start-scan.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { type Identified, identifyVisitor } from "./identify.ts";
import { rebuildRollUps } from "./roll-ups.ts";
import type { GivenAttribute } from "./visitor-attributes.ts";

const database = await testDatabase();
const { db } = database;

/** What a call brings: attributes, and identities out of a few, so that calls meet. */
interface Call {
  readonly visit: number | undefined;
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly plan: string | undefined;
  readonly setOnce: boolean;
}

const few = (...values: readonly string[]) => fc.constantFrom(undefined, ...values);
const calls: fc.Arbitrary<Call> = fc
  .record({
    visit: fc.option(fc.nat(11), { nil: undefined }),
    email: few("ada@example.com", "ADA@example.com", "bob@example.com"),
    phone: few("+4915112345678", "+14155550100"),
    plan: few("", "free", "pro"),
    setOnce: fc.boolean(),
  })
  .filter(({ visit, email, phone }) => [visit, email, phone].some((given) => given !== undefined));

function attributesOf({ email, phone, plan, setOnce }: Call): GivenAttribute[] {
  const given = [
    ["$email", email],
    ["$phone", phone],
    ["plan", plan],
  ] as const;
  return given.flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value, type: "STRING" as const, setOnce }],
  );
}

/**
 * Everything in one workspace that must never be: the same address twice, and anything that belongs to a missing
 * visitor.
 */
async function wrongs(workspaceId: string): Promise<unknown[]> {
  const { rows } = await sql`
    with known as (select id, email from visitors where workspace_id = ${workspaceId})
    select 'email' as wrong, email as id from known where email is not null group by email having count(*) > 1
    union all select 'event', id::text from events
      where workspace_id = ${workspaceId} and visitor_id not in (select id from known)
    union all select 'device', id::text from devices
      where workspace_id = ${workspaceId} and visitor_id not in (select id from known)
    union all select 'attribute', visitor_id::text from visitor_attributes
      where workspace_id = ${workspaceId} and visitor_id not in (select id from known)
    union all select 'link', visitor_id::text from visitor_links
      where workspace_id = ${workspaceId} and visitor_id not in (select id from known)`.execute(db);
  return rows;
}

async function visitorLinks(workspaceId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ line: string }>`select v::text as line from visitor_links v
    where workspace_id = ${workspaceId} order by line`.execute(db);
  return rows.map(({ line }) => line);
}

async function startVisits() {
  const scan = await startTestScan(database);
  const workspaceId = await insertWorkspace(db);
  const links = [await insertLink(db, { workspaceId }), await insertLink(db, { workspaceId })];
  const cookies = new Map<number, string>();
  return {
    workspaceId,
    drained: scan.drained,
    /** One visit of one of two links, by one of a few browsers. */
    async visit(browser: number, link: number) {
      const known = cookies.get(browser);
      const { headers } = await scan.ask(`/${links[link % 2]?.shortlink}`, {
        address: `203.0.113.${browser}`,
        headers: {
          "user-agent": `Mozilla/5.0 (X11; Linux x64) Firefox/${100 + browser}.0`,
          ...(known === undefined ? {} : { cookie: known }),
        },
      });
      const [cookie] = headers["set-cookie"]?.split(";") ?? [];
      if (cookie !== undefined) cookies.set(browser, cookie);
    },
    async events() {
      return await db
        .selectFrom("events")
        .select(["id", "device_id"])
        .where("workspace_id", "=", workspaceId)
        .orderBy("id")
        .execute();
    },
    identify(call: Call, events: readonly { id: string; device_id: string }[]): Promise<Identified> {
      const event = call.visit === undefined ? undefined : events[call.visit % events.length];
      return db.transaction().execute((tx) =>
        identifyVisitor(tx, {
          workspaceId,
          at: new Date(),
          event: event && { id: event.id, deviceId: event.device_id, mayAttach: true },
          attributes: attributesOf(call),
        }),
      );
    },
  };
}

test("whatever is identified in whatever order, addresses stay unique and counts equal a rebuild", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(calls, { minLength: 4, maxLength: 20 }), async (sequence) => {
      const { workspaceId, drained, visit, events, identify } = await startVisits();
      for (let index = 0; index < 12; index++) await visit(index % 5, index);
      await drained();
      const known = await events();
      for (const [index, call] of sequence.entries()) {
        await identify(call, known);
        // Browsers come back in between, with the visitor that they have by now.
        if (index % 4 === 3) await visit(index % 5, index);
        if (index % 4 === 3) await drained();
      }
      expect(await wrongs(workspaceId)).toEqual([]);
      const kept = await visitorLinks(workspaceId);
      expect(kept.length).toBeGreaterThan(0);
      await rebuildRollUps(db, workspaceId);
      expect(await visitorLinks(workspaceId)).toEqual(kept);
    }),
    { seed: 20_261_121, numRuns: 12 },
  );
});

test("calls and visits at the same moment leave one profile for each address and counts equal a rebuild", async () => {
  const { workspaceId, drained, visit, events, identify } = await startVisits();
  for (let index = 0; index < 12; index++) await visit(index % 6, index);
  await drained();
  const known = await events();
  const sample = fc.sample(calls, { seed: 7, numRuns: 60 });
  const visiting = (async () => {
    for (let index = 0; index < 60; index++) {
      await visit(index % 6, index);
      if (index % 5 === 0) await drained();
    }
    await drained();
  })();
  await Promise.all([visiting, ...sample.map((call) => identify(call, known))]);
  expect(await wrongs(workspaceId)).toEqual([]);
  const kept = await visitorLinks(workspaceId);
  await rebuildRollUps(db, workspaceId);
  expect(await visitorLinks(workspaceId)).toEqual(kept);
});

test("two calls with the same new address, or the same new phone, at once make one profile", async () => {
  const { workspaceId, identify } = await startVisits();
  const call = { visit: undefined, email: undefined, phone: undefined, plan: undefined, setOnce: false };
  const byEmail = { ...call, email: "ada@example.com" };
  const byPhone = { ...call, phone: "+4915112345678" };
  const results = await Promise.all(
    [byEmail, byPhone].flatMap((one) => Array.from({ length: 8 }, () => identify(one, []))),
  );
  expect(results.filter(({ created }) => created)).toHaveLength(2);
  expect(new Set(results.map(({ visitorId }) => visitorId)).size).toBe(2);
  expect(await wrongs(workspaceId)).toEqual([]);
});
