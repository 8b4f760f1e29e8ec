import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { pino } from "pino";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { testDatabase } from "../../test/support/test-database.ts";
import type { Db } from "../db/open.ts";
import { enqueue } from "./queue.ts";
import { type Jobs, type JobsOptions, startJobs } from "./runner.ts";

const { db, connection } = await testDatabase();
const log = pino({ level: "silent" });
const payload = { workspaceId: "w", linkId: "l" };

const running: Jobs[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((jobs) => jobs.stop()));
  await sql`delete from graphile_worker._private_jobs`.execute(db);
});

function start(task: JobsOptions["tasks"][string], overrides: Partial<JobsOptions> = {}): Jobs {
  const tasks = { "render-qrcode": task };
  const jobs = startJobs({ connection, tasks, concurrency: 2, stopTimeoutMs: 5_000, log, ...overrides });
  running.push(jobs);
  return jobs;
}

interface QueuedJob {
  readonly payload: unknown;
  readonly run_at: Date;
  readonly key: string | null;
  readonly locked_by: string | null;
  readonly attempts: number;
}

async function queued(on: Db = db): Promise<readonly QueuedJob[]> {
  const { rows } = await sql<QueuedJob>`
    select payload, run_at, key, locked_by, attempts from graphile_worker._private_jobs order by id`.execute(
    on,
  );
  return rows;
}

function eventually(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 20_000, interval: 20 });
}

test("queues a job when the caller's transaction commits, and only then", async () => {
  await db.transaction().execute((tx) => enqueue(tx, "render-qrcode", payload));
  const aborted = db.transaction().execute(async (tx) => {
    await enqueue(tx, "render-qrcode", payload);
    throw new Error("changed my mind");
  });
  await expect(aborted).rejects.toThrow("changed my mind");
  expect((await queued()).map((job) => job.payload)).toEqual([payload]);
});

test("keeps one waiting job under a key, with the last payload and time", async () => {
  const runAt = new Date("2100-01-01T00:00:00.123Z");
  await enqueue(db, "render-qrcode", payload, { key: "k" });
  await enqueue(db, "render-qrcode", { ...payload, linkId: "other" }, { key: "k", runAt });
  const rows = await queued();
  expect(rows).toEqual([
    { payload: { workspaceId: "w", linkId: "other" }, run_at: runAt, key: "k", locked_by: null, attempts: 0 },
  ]);
});

test("runs every queued job, and deletes it", async () => {
  const done: string[] = [];
  await enqueue(db, "render-qrcode", { workspaceId: "w", linkId: "before" });
  start(async (job: typeof payload) => void done.push(job.linkId));
  await eventually(() => expect(done).toEqual(["before"]));
  await enqueue(db, "render-qrcode", { workspaceId: "w", linkId: "after" });
  await eventually(async () => {
    expect(done).toEqual(["before", "after"]);
    expect(await queued()).toEqual([]);
  });
});

test("keeps a failed job, to repeat it later", async () => {
  start(async () => {
    throw new Error("not today");
  });
  await enqueue(db, "render-qrcode", payload);
  await eventually(async () => {
    const [job] = await queued();
    expect(job).toMatchObject({ attempts: 1, locked_by: null });
    expect(job?.run_at.getTime()).toBeGreaterThan(Date.now());
  });
});

test("waits for running jobs when it stops, and takes no more afterwards", async () => {
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  let finished = 0;
  const jobs = start(async () => {
    begun.resolve();
    await finish.promise;
    finished++;
  });
  await enqueue(db, "render-qrcode", payload);
  await begun.promise;
  let isStopped = false;
  const stopped = jobs.stop().then(() => {
    isStopped = true;
  });
  // One round trip to the database: enough time to stop, if the job did not hold it up.
  await queued();
  expect(isStopped).toBe(false);
  finish.resolve();
  await stopped;
  expect(finished).toBe(1);
  await enqueue(db, "render-qrcode", payload);
  expect(await queued()).toHaveLength(1);
});

test("aborts a job that runs on after the stop, and leaves it to be repeated", async () => {
  const begun = Promise.withResolvers<void>();
  const jobs = start(
    async (_: unknown, signal: AbortSignal) => {
      begun.resolve();
      await sleep(60_000, undefined, { signal });
    },
    { stopTimeoutMs: 50 },
  );
  await enqueue(db, "render-qrcode", payload);
  await begun.promise;
  await jobs.stop();
  expect(await queued()).toMatchObject([{ payload, locked_by: null }]);
});

test("gives back the jobs of a process that died, and keeps those of living ones", async () => {
  const begun = Promise.withResolvers<void>();
  let slow = 0;
  const busy = async (_: unknown, signal: AbortSignal) => {
    slow++;
    begun.resolve();
    await sleep(60_000, undefined, { signal });
  };
  start(busy, { concurrency: 1, stopTimeoutMs: 50 });
  await enqueue(db, "render-qrcode", payload);
  await begun.promise;
  // The state that kill -9 leaves: a lock in the name of a pool whose connection is gone.
  await enqueue(
    db,
    "render-qrcode",
    { workspaceId: "w", linkId: "orphan" },
    { runAt: new Date("2100-01-01") },
  );
  await sql`update graphile_worker._private_jobs
    set locked_by = 'pool-dead', locked_at = now(), run_at = now(), attempts = 1
    where payload->>'linkId' = 'orphan'`.execute(db);
  const recovered: string[] = [];
  start(async (job: typeof payload) => void recovered.push(job.linkId), { recoveryIntervalMs: 50 });
  await eventually(() => expect(recovered).toEqual(["orphan"]));
  // A finished job is deleted a moment after its task has returned.
  await eventually(async () => expect((await queued()).map((job) => job.payload)).toEqual([payload]));
  expect(slow).toBe(1);
});

test("goes on after the database cut every connection", async () => {
  const done: string[] = [];
  start(async (job: typeof payload) => void done.push(job.linkId));
  await enqueue(db, "render-qrcode", { workspaceId: "w", linkId: "first" });
  // The queue must be empty too: a job that is cut off between its end and its deletion runs again.
  await eventually(async () => expect([done, await queued()]).toEqual([["first"], []]));
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(db);
  await enqueue(db, "render-qrcode", { workspaceId: "w", linkId: "second" });
  await eventually(() => expect(done).toEqual(["first", "second"]));
});

test("goes on after a job that ended, or failed, while the database refused connections", async () => {
  const begun: string[] = [];
  const finish = Promise.withResolvers<void>();
  const done: string[] = [];
  start(async (job: typeof payload) => {
    begun.push(job.linkId);
    await finish.promise;
    if (job.linkId === "fails" && !done.includes("fails")) {
      done.push("fails");
      throw new Error("not today");
    }
    done.push(job.linkId);
  });
  for (const linkId of ["ends", "fails"]) await enqueue(db, "render-qrcode", { workspaceId: "w", linkId });
  await eventually(() => expect(begun).toHaveLength(2));
  const server = new pg.Client({ ...connection, database: "postgres" });
  await server.connect();
  onTestFinished(() => server.end());
  const letIn = (isOpen: boolean) =>
    server.query(
      `alter database ${server.escapeIdentifier(connection.database ?? "")} allow_connections ${isOpen}`,
    );
  await letIn(false);
  await server.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [
    connection.database,
  ]);
  finish.resolve();
  await eventually(() => expect(done).toEqual(expect.arrayContaining(["ends", "fails"])));
  // Long enough for the queue to try in vain.
  await sleep(300);
  await letIn(true);
  // Both jobs run again, the failed one after a delay.
  await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
  await eventually(async () => expect(await queued()).toEqual([]));
});

test("queues periodic tasks by the crontab", async () => {
  const ticked = Promise.withResolvers<unknown>();
  const tasks = { tick: async (job: unknown) => ticked.resolve(job) };
  // Ten minutes back, so that the queue makes up for a missed moment; after a first start it would wait for the next
  // one.
  await sql`insert into graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
    values ('tick', now() - interval '10 minutes', now() - interval '10 minutes')`.execute(db);
  start(async () => {}, { tasks, crontab: '* * * * * tick ?fill=5m {"by":"crontab"}' });
  expect(await ticked.promise).toMatchObject({ by: "crontab" });
});
