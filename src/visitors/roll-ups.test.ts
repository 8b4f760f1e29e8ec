import { sql } from "kysely";
import { expect, test } from "vitest";
import { insertLink, insertWorkspace, startTestScan } from "../../test/support/start-scan.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { rebuildRollUps } from "./roll-ups.ts";

const database = await testDatabase();
const { db } = database;

const agents = [
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "",
];

/** All roll-ups as one text, independent of the order in which they were written. */
async function dump(): Promise<string> {
  const { rows } = await sql<{ dump: string }>`
    select coalesce(string_agg(line, chr(10) order by line), '') as dump from (
      select 'counter ' || c::text as line from link_counters c
      union all select 'visitor ' || v::text from visitor_links v) as lines`.execute(db);
  return rows[0]?.dump ?? "";
}

test("a rebuild makes the roll-ups again to the byte, from nothing and from nonsense", async () => {
  const { ask, drained } = await startTestScan(database);
  const workspaceId = await insertWorkspace(db);
  const links = [
    await insertLink(db, { workspaceId }),
    await insertLink(db, { workspaceId }),
    await insertLink(db),
  ];
  const unvisited = await insertLink(db);
  await db
    .insertInto("link_counters")
    .values({ workspace_id: unvisited.workspaceId, link_id: unvisited.id })
    .execute();
  for (let index = 0; index < 120; index++) {
    const headers = { "user-agent": agents[index % 4] ?? "" };
    await ask(`/${links[index % 3]?.shortlink}`, { headers, address: `81.2.${index % 7}.4` });
  }
  await drained();
  const kept = await dump();
  expect(kept.split("\n").length).toBeGreaterThan(10);

  await rebuildRollUps(db);
  expect(await dump()).toBe(kept);

  await db.updateTable("link_counters").set({ event_count: 999n }).execute();
  await db.updateTable("visitor_links").set({ event_count: 7n }).execute();
  await rebuildRollUps(db);
  expect(await dump()).toBe(kept);
});

test("a rebuild of one workspace leaves the others alone", async () => {
  const { ask, drained } = await startTestScan(database);
  const [mine, other] = [await insertLink(db), await insertLink(db)];
  await ask(`/${mine.shortlink}`);
  await ask(`/${other.shortlink}`);
  await drained();
  await db.updateTable("link_counters").set({ event_count: 5n }).execute();
  await rebuildRollUps(db, mine.workspaceId);
  const counts = await db
    .selectFrom("link_counters")
    .select(["link_id", "event_count"])
    .where("link_id", "in", [mine.id, other.id])
    .execute();
  expect(new Map(counts.map((row) => [row.link_id, row.event_count]))).toEqual(
    new Map([
      [mine.id, 1n],
      [other.id, 5n],
    ]),
  );
});

test("rebuilding while visits are drained counts each of them once", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertLink(db);
  let isDone = false;
  const rebuilding = (async () => {
    let rebuilds = 0;
    for (; !isDone; rebuilds++) await rebuildRollUps(db, link.workspaceId);
    return rebuilds;
  })();
  for (let wave = 0; wave < 10; wave++) {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => ask(`/${link.shortlink}`, { address: `81.2.3.${index}` })),
    );
    await drained();
  }
  isDone = true;
  expect(await rebuilding).toBeGreaterThan(3);
  const kept = await dump();
  expect(kept).toContain(`${link.workspaceId},${link.id},500`);
  await rebuildRollUps(db, link.workspaceId);
  expect(await dump()).toBe(kept);
});
