import { sql } from "kysely";
import { expect, test } from "vitest";
import { randomFrom } from "../../test/fuzz/random.ts";
import { compare } from "../../test/support/analytics/as-answered.ts";
import { beginMs, type Place, placeWithDeeds } from "../../test/support/analytics/deeds.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { sealAgain } from "../analytics/segments/seal-again.ts";
import { openSession } from "../analytics/segments/session.ts";
import { createSealer, createSealing } from "./seal-segments.ts";

const { db, connection } = await testDatabase();
const dayMs = 86_400_000;

async function visitedPlace(seed: number): Promise<Place> {
  const { place, deeds } = await placeWithDeeds(db, randomFrom(seed));
  for (let visits = 0; visits < 6; visits++) await deeds.visitLate();
  await deeds.visitNow();
  return place;
}

async function compared({ workspaceId, nowMs }: Place) {
  const session = await openSession(connection);
  const span = { workspaceId, from: new Date(beginMs - 10 * dayMs), to: new Date(nowMs + dayMs) };
  return compare(session, span).finally(session.close);
}

function sealerAt(atMs: number, openMax = 50_000) {
  return createSealer({ db, connection, now: () => new Date(atMs), settledMs: 0, openMax });
}

test("days that are over are sealed in all workspaces, although one of them cannot be", async () => {
  const places = [await visitedPlace(1), await visitedPlace(2), await visitedPlace(3)];
  const [broken] = places;
  await sql`alter table segments add constraint broken check (workspace_id <> ${sql.lit(broken?.workspaceId)})`.execute(
    db,
  );
  const atMs = beginMs + 9 * dayMs;
  await expect(sealerAt(atMs)()).rejects.toThrow("broken");
  await sql`alter table segments drop constraint broken`.execute(db);
  for (const place of places) {
    const { answered, stored, sealed } = await compared(place);
    expect(answered).toEqual(stored);
    expect(sealed).toBe(place === broken ? 0 : stored.length);
  }
  await sealerAt(atMs)();
  for (const place of places) {
    const { stored, sealed } = await compared(place);
    expect(sealed).toBe(stored.length);
  }
});

test("a day that is not over stays open, unless marks say that many visits wait", async () => {
  const place = await visitedPlace(4);
  const { workspaceId } = place;
  const noon = beginMs + 30 * dayMs + dayMs / 2;
  await sql`update events set created_at = ${new Date(noon)} where workspace_id = ${workspaceId}`.execute(db);
  await sql`update events e set id = overlay(id::text placing ${idStart(noon)} from 1 for 13)::uuid
    where workspace_id = ${workspaceId}`.execute(db);
  const sealedAt = async (atMs: number) => {
    await sealerAt(atMs, 5)();
    return (await compared({ ...place, nowMs: atMs })).sealed;
  };
  await sql`delete from segment_marks`.execute(db);
  expect(await sealedAt(noon + 60 * 60_000)).toBe(0);
  await sql`insert into segment_marks (workspace_id, first_at, last_at, marked_at)
    values (${workspaceId}, ${new Date(noon)}, ${new Date(noon)}, now())`.execute(db);
  // Visits are left to settle for some minutes.
  expect(await sealedAt(noon + 60_000)).toBe(0);
  await sql`insert into segment_marks (workspace_id, first_at, last_at, marked_at)
    values (${workspaceId}, ${new Date(noon)}, ${new Date(noon)}, now())`.execute(db);
  expect(await sealedAt(noon + 60 * 60_000)).toBeGreaterThan(5);
  expect((await sql`select from segment_marks`.execute(db)).rows).toEqual([]);
});

function idStart(atMs: number): string {
  const hex = atMs.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

test("broken segments are made again, in one workspace or in all", async () => {
  const places = [await visitedPlace(5), await visitedPlace(6)];
  const now = () => new Date(beginMs + 9 * dayMs);
  await sealerAt(now().getTime())();
  const [first] = places;
  for (const workspaceId of [first?.workspaceId, undefined]) {
    await sql`update segments set times = 'hello', ways = ''
      where workspace_id = coalesce(${workspaceId ?? null}::uuid, workspace_id)`.execute(db);
    for (const place of places.slice(0, workspaceId === undefined ? 2 : 1))
      await expect(compared(place)).rejects.toThrow("of a segment is broken");
    await sealAgain({ connection, now }, workspaceId);
    for (const place of places) {
      const { answered, stored, sealed } = await compared(place);
      expect(answered).toEqual(stored);
      expect(sealed).toBe(stored.length);
    }
  }
});

test("the clock's run of each minute queues two more, and those queue none", async () => {
  const run = createSealing({ db, connection, now: () => new Date(beginMs), settledMs: 0 });
  const { signal } = new AbortController();
  const queued = async () => {
    const { rows } = await sql<{ key: string; seconds: number }>`
      select key, extract(epoch from run_at - updated_at)::int as seconds from graphile_worker._private_jobs
      order by run_at`.execute(db);
    return rows;
  };
  await run({ _cron: { ts: "2026-08-01T00:00:00Z" } }, signal);
  await run({}, signal);
  await run({ _cron: { ts: "2026-08-01T00:01:00Z" } }, signal);
  expect(await queued()).toEqual([
    { key: "seal-segments-20", seconds: 20 },
    { key: "seal-segments-40", seconds: 40 },
  ]);
});
