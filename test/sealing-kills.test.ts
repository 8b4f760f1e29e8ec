import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import type { Analytics } from "../src/analytics/driver.ts";
import type { Summary } from "../src/analytics/question.ts";
import { segmentAnalytics } from "../src/analytics/reading/driver.ts";
import { referenceAnalytics } from "../src/analytics/reference/driver.ts";
import { openSession } from "../src/analytics/segments/session.ts";
import { startEmbedded } from "../src/db/embedded/embedded.ts";
import { migrate } from "../src/db/migrate.ts";
import { openDatabase } from "../src/db/open.ts";
import { shareRollUps } from "../src/visitors/roll-ups.ts";
import { markVisits } from "../src/visitors/segment-marks.ts";
import { randomFrom } from "./fuzz/random.ts";
import { compare } from "./support/analytics/as-answered.ts";
import { storeVisits, storeWorld } from "./support/analytics/store-world.ts";
import { randomVisit, randomWorld, type World } from "./support/analytics/world.ts";

const dayMs = 86_400_000;
const from = new Date(Date.UTC(2024, 8, 20));
const to = new Date(Date.UTC(2024, 9, 5));
const random = randomFrom(99);
const dataDir = await mkdtemp(join(tmpdir(), "sealing-"));
const server = await startEmbedded({ dataDir, log: pino({ level: "silent" }) });
const { host, port, user, database } = server;
const connection = { host, port, user, database };
const { db, pool, close } = openDatabase({
  connection,
  poolSize: 2,
  statementTimeoutMs: 10_000,
  onError: () => {},
});
const now = () => new Date(to.getTime() + dayMs);
// One reader lives through all kills, with what it keeps of segments that come and go.
const reader = segmentAnalytics({
  connection,
  now,
  cacheBytes: 4_000_000,
  timeoutMs: 10_000,
  maxAgeMs: 0,
  onFault: (fault) => expect.unreachable(fault),
});
afterAll(async () => {
  await reader.close();
  await close();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Repeats what the dead database refuses. */
async function untilAlive<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(20);
    }
  }
}

/** Starts a worker, and returns once it has sealed. */
async function startSealing(workspaceId: string): Promise<ChildProcess> {
  const file = new URL("support/sealing-process.ts", import.meta.url).pathname;
  const told = JSON.stringify({
    connection: { ...connection, application_name: "sealing" },
    workspaceId,
    nowMs: now().getTime(),
  });
  const child = spawn(process.execPath, [file, told], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  // A full pipe would stop the worker.
  child.stdout.resume();
  return child;
}

/** A visit between `from` and `to`. */
function visitIn(world: World) {
  for (;;) {
    const visit = randomVisit(random, world);
    if (visit.at >= from && visit.at < to) return visit;
  }
}

/** Late visits, as the drain writes them. */
async function visitLate(workspaceId: string, world: World): Promise<void> {
  await untilAlive(() => {
    // A commit whose answer was lost has stored visits with these ids.
    const visits = Array.from({ length: 3 }, () => visitIn(world));
    return db.transaction().execute(async (tx) => {
      await shareRollUps([workspaceId]).execute(tx);
      await storeVisits(tx, workspaceId, visits);
      await markVisits(
        tx,
        visits.map(({ at }) => ({ workspaceId, at })),
      );
    });
  });
}

async function newWorkspace(): Promise<{ workspaceId: string; world: World }> {
  const workspaceId = randomUUID();
  const times = { created_at: from, updated_at: from };
  await db
    .insertInto("workspaces")
    .values({ id: workspaceId, name: "W", link_setting_id: workspaceId, ...times })
    .execute();
  const link = { id: randomUUID(), name: "a", shortlink: "a", tags: [], isDeleted: false };
  const world = randomWorld(random, "UTC", [link], 0);
  await storeWorld(db, workspaceId, world);
  await storeVisits(
    db,
    workspaceId,
    Array.from({ length: 400 }, () => visitIn(world)),
  );
  return { workspaceId, world };
}

test("however often workers and PostgreSQL are killed while they seal, numbers are never wrong, only late", async () => {
  await migrate(db, pool, to);
  const { workspaceId, world } = await newWorkspace();
  let child = await startSealing(workspaceId);
  const compareNow = () =>
    untilAlive(async () => {
      const session = await openSession(connection);
      try {
        return await compare(session, { workspaceId, from, to });
      } finally {
        await session.close().catch(() => {});
      }
    });
  try {
    for (let kill = 0; kill < 20; kill++) {
      await visitLate(workspaceId, world);
      await pause(random.below(40));
      // PostgreSQL treats a dead worker like a connection that it ends itself, which takes no new process.
      if (kill % 10 === 9) await killServer();
      else if (kill % 3 !== 1) await endSession();
      else {
        child.kill("SIGKILL");
        child = await startSealing(workspaceId);
      }
      const { answered, stored, isGapless } = await compareNow();
      expect(answered, `after kill ${kill}`).toEqual(stored);
      expect(isGapless).toBe(true);
      expect(await summaryOf(reader.ask, workspaceId)).toEqual(await summaryOf(reference, workspaceId));
    }
    await expect.poll(async () => (await compareNow()).sealed, { timeout: 60_000 }).toBeGreaterThan(300);
    await expect.poll(marksLeft, { timeout: 60_000 }).toBe(0);
    const { answered, stored, sealed } = await compareNow();
    expect([answered, sealed]).toEqual([stored, stored.length]);
  } finally {
    child.kill("SIGKILL");
  }
}, 180_000);

const reference = referenceAnalytics(now);

function summaryOf(ask: Analytics, workspaceId: string): Promise<Summary> {
  const scope = { workspaceId, linkId: undefined, tagKey: undefined, from: undefined, to: undefined };
  return untilAlive(async () => (await ask(db, "summary", { scope })).answer);
}

/** The processes of PostgreSQL that seal for the worker. */
const sealers = sql<{ pid: number }>`select pid from pg_stat_activity
  where backend_type = 'client backend' and application_name = 'sealing'`;

async function endSession(): Promise<void> {
  await untilAlive(async () => {
    const { rows } = await sql<{ ended: boolean }>`
      select pg_terminate_backend(pid) as ended from (${sealers}) as sealers`.execute(db);
    if (!rows.some(({ ended }) => ended)) throw new Error("nobody seals at this moment");
  });
}

/** Kills a process of PostgreSQL that seals: all others end, and it recovers as after a loss of power. */
async function killServer(): Promise<void> {
  await untilAlive(async () => {
    const { rows } = await sealers.execute(db);
    if (rows[0] === undefined) throw new Error("nobody seals at this moment");
    // It may have ended since, which fails this attempt.
    process.kill(rows[0].pid, "SIGKILL");
  });
}

async function marksLeft(): Promise<number> {
  const { rows } = await untilAlive(() => sql`select from segment_marks`.execute(db));
  return rows.length;
}
