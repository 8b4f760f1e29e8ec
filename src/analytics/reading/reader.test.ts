import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { moveVisitor, newPlace, seal } from "../../../test/support/analytics/sealed-place.ts";
import { storeVisits } from "../../../test/support/analytics/store-world.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { newId } from "../../lib/ids.ts";
import { markVisits } from "../../visitors/segment-marks.ts";
import type { Scope } from "../question.ts";
import { referenceAnalytics } from "../reference/driver.ts";
import { createColumnStore } from "./column-store.ts";
import { segmentAnalytics } from "./driver.ts";
import { NotSealed } from "./read-state.ts";
import { type ReaderDeps, readAnswer, TookTooLong } from "./reader.ts";
import { createSpanReader } from "./spans.ts";
import { createMemories, type WorkspaceMemory } from "./workspace-memory.ts";

const { db, connection } = await testDatabase();
const pool = new pg.Pool({ ...connection, max: 4 });
afterAll(() => pool.end());
const now = () => new Date();
const askReference = referenceAnalytics(now);
const sealedThrough = new Date(Date.UTC(2025, 2, 20));

async function sealedPlace(seed: number) {
  const place = await newPlace(db, seed, 300);
  await seal(connection, place.workspaceId, sealedThrough);
  return { ...place, sealAgain: () => seal(connection, place.workspaceId, sealedThrough) };
}

const whole = (workspaceId: string): Scope => {
  return { workspaceId, linkId: undefined, tagKey: undefined, from: undefined, to: undefined };
};

interface Hooks {
  readonly openMax?: number;
  /** Runs behind each segment. */
  readonly behindSegment?: () => Promise<void>;
  /** Runs when the state of the workspace is known, before its columns are read. */
  readonly beforeColumns?: (memory: WorkspaceMemory) => Promise<void>;
}

/** What the reading thread reads with. */
function readerDeps({ openMax = 262_144, behindSegment, beforeColumns }: Hooks): ReaderDeps {
  const columns = createColumnStore(pool, 4_000_000);
  const memories = createMemories(pool, 4_000_000, openMax);
  return {
    pool,
    columns,
    spans: createSpanReader(pool, columns, behindSegment ?? (async () => {})),
    onFault: (fault) => expect.unreachable(fault),
    memoryOf(workspaceId) {
      const memory = memories(workspaceId);
      const state: WorkspaceMemory["state"] = async (maxAgeMs) => {
        const read = await memory.state(maxAgeMs);
        await beforeColumns?.(memory);
        return read;
      };
      return { ...memory, state };
    },
  };
}

const terms = { now: Date.now, maxAgeMs: 0, timeoutMs: 60_000 };

test("a question whose segments are sealed again meanwhile begins again, and is right", async () => {
  const { workspaceId, sealAgain } = await sealedPlace(11);
  let times = 0;
  const deps = readerDeps({
    beforeColumns: async () => {
      times += 1;
      if (times < 3) await sealAgain();
    },
  });
  const scope = whole(workspaceId);
  const { answer } = await readAnswer(deps, "summary", { scope }, terms);
  expect(times).toBe(3);
  expect(answer).toEqual((await askReference(db, "summary", { scope })).answer);
});

test("a question whose segments change again and again is left to the reference", async () => {
  const { workspaceId, sealAgain } = await sealedPlace(13);
  const deps = readerDeps({ beforeColumns: sealAgain });
  const reading = readAnswer(deps, "summary", { scope: whole(workspaceId) }, terms);
  await expect(reading).rejects.toBeInstanceOf(NotSealed);
});

test("a question that takes too long is given up between two segments", async () => {
  const { workspaceId } = await sealedPlace(14);
  let segments = 0;
  const deps = readerDeps({
    behindSegment: async () => {
      segments += 1;
      if (segments === 1) await pause(250);
    },
  });
  const reading = readAnswer(deps, "summary", { scope: whole(workspaceId) }, { ...terms, timeoutMs: 200 });
  await expect(reading).rejects.toBeInstanceOf(TookTooLong);
  expect(segments).toBeLessThan(4);
});

test("more visits outside of segments than a question may read are left to the reference, which answers", async () => {
  const { workspaceId } = await newPlace(db, 15, 300);
  const scope = whole(workspaceId);
  const reading = () => readAnswer(readerDeps({ openMax: 100 }), "summary", { scope }, terms);
  await expect(reading()).rejects.toBeInstanceOf(NotSealed);
  const options = { connection, now, cacheBytes: 4_000_000, timeoutMs: 20_000, openMax: 100 };
  const { ask, close } = segmentAnalytics({ ...options, onFault: (fault) => expect.unreachable(fault) });
  try {
    const { answer } = await ask(db, "summary", { scope });
    expect(answer.total).toBeGreaterThan(100);
    expect(answer).toEqual((await askReference(db, "summary", { scope })).answer);
    // Segments that lack a change for too long are read from events, too.
    await seal(connection, workspaceId, sealedThrough);
    expect((await readAnswer(readerDeps({ openMax: 100 }), "summary", { scope }, terms)).answer).toEqual(
      answer,
    );
    await sql`insert into segment_marks (workspace_id, first_at, last_at, marked_at)
      values (${workspaceId}, '2024-01-01', '2025-03-01', clock_timestamp() - interval '1 minute')`.execute(
      db,
    );
    await expect(reading()).rejects.toBeInstanceOf(NotSealed);
  } finally {
    await close();
  }
});

test("questions beside sealing and moving visitors count every visit once", async () => {
  const { workspaceId, world, sealAgain } = await sealedPlace(16);
  const scope = whole(workspaceId);
  const { total } = (await askReference(db, "summary", { scope })).answer;
  const options = { connection, now, cacheBytes: 4_000_000, timeoutMs: 20_000, maxAgeMs: 0 };
  const { ask, close } = segmentAnalytics({ ...options, onFault: (fault) => expect.unreachable(fault) });
  const ids = world.visitors.map(({ id }) => id);
  let isAsked = false;
  const change = async () => {
    for (let round = 0; !isAsked && round < 200; round++) {
      await sealAgain();
      if (ids.length < 2) continue;
      await moveVisitor(db, workspaceId, { from: ids.pop() ?? "", to: round % 3 ? ids[0] : undefined });
    }
  };
  const changes = change();
  try {
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        if (index % 2 === 0) return (await ask(db, "summary", { scope })).answer.total;
        return (await ask(db, "funnel", { scope })).answer.visits;
      }),
    );
    expect(answers).toEqual(answers.map(() => total));
  } finally {
    isAsked = true;
    await changes;
    await close();
  }
});

test("a late visit is answered within a minute, and until then the answer says how far it goes", async () => {
  const { workspaceId, world } = await sealedPlace(17);
  const scope = whole(workspaceId);
  // As the service runs it.
  const options = { connection, now, cacheBytes: 4_000_000, timeoutMs: 20_000 };
  const { ask, close } = segmentAnalytics({ ...options, onFault: (fault) => expect.unreachable(fault) });
  try {
    const { total } = (await ask(db, "summary", { scope })).answer;
    const [visit] = world.visits.filter(({ counted, lockedNumber }) => counted && lockedNumber === undefined);
    if (visit === undefined) throw new Error("the world has counted visits");
    await db.transaction().execute(async (tx) => {
      await storeVisits(tx, workspaceId, [{ ...visit, id: newId(visit.at) }]);
      await markVisits(tx, [{ workspaceId, at: visit.at }]);
    });
    const { rows } = await sql<{ at: Date }>`
      select marked_at as at from segment_marks where workspace_id = ${workspaceId}`.execute(db);
    for (let index = 0; index < 3; index++) {
      const late = await ask(db, "summary", { scope });
      expect(late.answer.total).toBe(total);
      expect(late.through.getTime()).toBeLessThanOrEqual(rows[0]?.at.getTime() ?? 0);
    }
    await sql`update segment_marks set marked_at = clock_timestamp() - interval '46 seconds'
      where workspace_id = ${workspaceId}`.execute(db);
    await expect
      .poll(async () => (await ask(db, "summary", { scope })).answer.total, { timeout: 40_000 })
      .toBe(total + 1);
  } finally {
    await close();
  }
});
