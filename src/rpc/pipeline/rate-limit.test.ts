import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import { type Clock, tickingClock } from "../../../test/support/clock.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import type { Db } from "../../db/open.ts";
import { newId } from "../../lib/ids.ts";
import { type Bucket, createRateLimiter, deleteIdleBuckets, type RateLimiter } from "./rate-limit.ts";

const { db } = await testDatabase();
const log = pino({ level: "silent" });
const limits = { token: 100, workspace: 400, publishable: 10, anonymous: 5 };

function limiter(clock: Clock, change: Partial<Parameters<typeof createRateLimiter>[0]> = {}): RateLimiter {
  const made = createRateLimiter({ db, now: clock.now, log, limits, ...change });
  afterAll(made.close);
  return made;
}

/** A clock that stands still; buckets refill only when a test moves it. */
function still(): Clock {
  let time = Date.UTC(2026, 0, 1);
  return {
    now: () => new Date(time),
    advance(ms) {
      time += ms;
    },
  };
}

function newToken(): Bucket {
  return { kind: "token", workspaceId: newId(new Date()), tokenId: newId(new Date()) };
}

/** How many of a thousand immediate calls are allowed. */
function allowed(limiter: RateLimiter, bucket: Bucket): number {
  return Array.from({ length: 1_000 }, () => limiter.take(bucket)).filter((each) => each?.isAllowed).length;
}

test("a token may burst to twice its rate, and then continues at its rate", () => {
  const clock = still();
  const one = limiter(clock);
  const bucket = newToken();
  expect(allowed(one, bucket)).toBe(200);
  clock.advance(500);
  expect(allowed(one, bucket)).toBe(50);
  clock.advance(60_000);
  expect(allowed(one, bucket)).toBe(200);
});

test("calls that cost more may leave a debt, which is paid before the next one", () => {
  const clock = still();
  const one = limiter(clock);
  const bucket = newToken();
  expect(one.takeMore(bucket, 300)).toMatchObject({ isAllowed: true, left: 0 });
  expect(one.takeMore(bucket, 1)).toMatchObject({ isAllowed: false, retryAfterSeconds: 2 });
  expect(one.take(bucket)?.isAllowed).toBe(false);
  clock.advance(1_010);
  expect(allowed(one, bucket)).toBe(1);
});

test("publishable keys are limited by address and workspace, callers without a token by address", () => {
  const one = limiter(still());
  const workspaceId = newId(new Date());
  expect(allowed(one, { kind: "publishable", workspaceId, address: "192.0.2.1" })).toBe(20);
  expect(allowed(one, { kind: "publishable", workspaceId, address: "192.0.2.2" })).toBe(20);
  expect(allowed(one, { kind: "anonymous", address: "192.0.2.1" })).toBe(10);
  expect(allowed(one, { kind: "anonymous", address: "2001:db8::1" })).toBe(10);
  expect(allowed(one, { kind: "anonymous", address: "2001:db8::ffff:2" })).toBe(0);
});

test("an operation with its own limit allows a minute's calls at once for each address, apart from all other limits", () => {
  const clock = still();
  const one = limiter(clock);
  const from = (address: string): Bucket => ({
    kind: "operation",
    operation: "signpost.v1.QrcodeDesignService/PublicCreate",
    callsPerMinute: 10,
    address,
  });
  expect(allowed(one, from("192.0.2.7"))).toBe(10);
  expect(one.take(from("192.0.2.7"))).toMatchObject({ isAllowed: false, retryAfterSeconds: 6 });
  expect(allowed(one, from("192.0.2.8"))).toBe(10);
  expect(allowed(one, { kind: "anonymous", address: "192.0.2.7" })).toBe(10);
  clock.advance(30_000);
  expect(allowed(one, from("192.0.2.7"))).toBe(5);
});

test("an operation's calls are counted across processes", async () => {
  const clock = still();
  const [one, other] = [limiter(clock), limiter(clock)];
  const bucket: Bucket = { kind: "operation", operation: "a/B", callsPerMinute: 10, address: "192.0.2.9" };
  for (let call = 0; call < 10; call++) one.take(bucket);
  await one.sync();
  other.take(bucket);
  await other.sync();
  expect(allowed(other, bucket)).toBe(0);
});

test("an answer says how many calls are left and when more come back", () => {
  const clock = still();
  const one = limiter(clock, { limits: { ...limits, token: 1 } });
  const bucket = newToken();
  expect(one.take(bucket)).toEqual({
    isAllowed: true,
    left: 1,
    fullInSeconds: 1,
    retryAfterSeconds: 1,
    burst: 2,
  });
  one.take(bucket);
  expect(one.take(bucket)).toMatchObject({
    isAllowed: false,
    left: 0,
    fullInSeconds: 2,
    retryAfterSeconds: 1,
  });
});

test("a limit of 0 is off", () => {
  expect(limiter(still(), { limits: { ...limits, token: 0 } }).take(newToken())).toBeUndefined();
});

test("calls that one process let through are missing in another after both have reconciled", async () => {
  const clock = still();
  const [first, second] = [limiter(clock), limiter(clock)];
  const bucket = newToken();
  for (let count = 0; count < 150; count++) first.take(bucket);
  await first.sync();
  second.take(bucket);
  await second.sync();
  expect(allowed(second, bucket)).toBe(49);
});

test("what several processes overshoot is a debt of at most one burst, so the rate holds over time", async () => {
  const clock = still();
  const processes = [limiter(clock), limiter(clock), limiter(clock), limiter(clock)];
  const bucket = newToken();
  const first = processes.map((each) => allowed(each, bucket));
  expect(first).toEqual([200, 200, 200, 200]);
  for (const each of processes) await each.sync();
  for (let second = 0; second < 2; second++) {
    clock.advance(999);
    // The last process to reconcile knows all calls, and every other process does after the next reconciliation.
    expect(allowed(processes[3] as RateLimiter, bucket)).toBe(0);
    await processes[3]?.sync();
  }
});

test("calls taken while a reconciliation is under way are not lost", async () => {
  const clock = still();
  const [first, second] = [limiter(clock), limiter(clock)];
  const bucket = newToken();
  first.take(bucket);
  await first.sync();
  for (let count = 0; count < 49; count++) first.take(bucket);
  // The reconciliation waits for the table while more calls come.
  const { syncing } = await db.transaction().execute(async (tx) => {
    await sql`lock table rate_limits in exclusive mode`.execute(tx);
    const blocked = first.sync();
    while ((await waiting(tx)) === 0) await pause(2);
    for (let count = 0; count < 50; count++) first.take(bucket);
    return { syncing: blocked };
  });
  await syncing;
  expect(first.take(bucket)?.left).toBe(99);
  await first.sync();
  second.take(bucket);
  await second.sync();
  expect(second.take(bucket)?.left).toBe(97);
});

async function waiting(tx: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int from pg_locks where not granted and relation = 'rate_limits'::regclass`.execute(tx);
  return rows[0]?.count ?? 0;
}

test("the time between the last call and a reconciliation refills a bucket once", async () => {
  const clock = still();
  const one = limiter(clock);
  const bucket = newToken();
  expect(allowed(one, bucket)).toBe(200);
  await one.sync();
  clock.advance(500);
  one.take(bucket);
  clock.advance(500);
  await one.sync();
  expect(allowed(one, bucket)).toBe(99);
});

test("a process whose clock is behind refills nothing twice", async () => {
  const [ahead, behind] = [still(), still()];
  ahead.advance(10_000);
  const [first, second] = [limiter(ahead), limiter(behind)];
  const bucket = newToken();
  expect(allowed(first, bucket)).toBe(200);
  await first.sync();
  second.take(bucket);
  await second.sync();
  ahead.advance(100);
  expect(allowed(first, bucket)).toBe(10);
});

test("while the database is away every process keeps the limit by itself, and reconciles when it is back", async () => {
  const clock = still();
  const [alone, other] = [limiter(clock), limiter(clock)];
  const bucket = newToken();
  await sql`alter table rate_limits rename to hidden`.execute(db);
  expect(allowed(alone, bucket)).toBe(200);
  await alone.sync();
  expect(allowed(alone, bucket)).toBe(0);
  const another = newToken();
  await alone.sync();
  expect(allowed(alone, another)).toBe(200);
  clock.advance(100);
  expect(allowed(alone, another)).toBe(10);
  clock.advance(-100);
  await sql`alter table hidden rename to rate_limits`.execute(db);
  await alone.sync();
  other.take(bucket);
  await other.sync();
  expect(allowed(other, bucket)).toBe(0);
});

test("many buckets are reconciled at once, by several processes in any order", async () => {
  const clock = tickingClock();
  const processes = [limiter(clock), limiter(clock), limiter(clock)];
  const buckets = Array.from({ length: 300 }, newToken);
  for (const each of processes) {
    for (const bucket of buckets) each.take(bucket);
    buckets.reverse();
  }
  await Promise.all(processes.map((each) => each.sync()));
  const { count } = await db
    .selectFrom("rate_limits")
    .select((query) => query.fn.countAll<bigint>().as("count"))
    .where(
      "bucket",
      "in",
      buckets.map((bucket) => (bucket.kind === "token" ? bucket.tokenId : "")),
    )
    .where("tokens", "<=", 198)
    .executeTakeFirstOrThrow();
  expect(count).toBe(300n);
});

test("buckets that nobody used for an hour are deleted", async () => {
  const clock = still();
  const one = limiter(clock);
  const bucket = newToken();
  one.take(bucket);
  await one.sync();
  const find = () =>
    db
      .selectFrom("rate_limits")
      .select("bucket")
      .where("workspace_id", "=", "workspaceId" in bucket ? bucket.workspaceId : "")
      .execute();
  await deleteIdleBuckets(db, clock.now());
  expect(await find()).toHaveLength(1);
  clock.advance(3_600_001);
  await deleteIdleBuckets(db, clock.now());
  expect(await find()).toHaveLength(0);
});
