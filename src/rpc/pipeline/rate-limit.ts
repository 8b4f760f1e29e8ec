import { type Selectable, sql } from "kysely";
import type { Logger } from "pino";
import type { RateLimits } from "../../../gen/database.ts";
import { failureMessage } from "../../db/describe-failure.ts";
import type { Db } from "../../db/open.ts";
import { networkOf } from "../../lib/client-address.ts";
import { lruCache } from "../../lib/lru-cache.ts";
import { noWorkspace } from "../../model/no-workspace.ts";

/** The state of a bucket after a call, and whether the call is allowed. */
export interface BucketState {
  readonly isAllowed: boolean;
  /** Whole calls that may still be made at once. */
  readonly left: number;
  /** Seconds until the bucket is full again. */
  readonly fullInSeconds: number;
  /** Seconds until one call is allowed again, at least 1. */
  readonly retryAfterSeconds: number;
  /** Calls that a full bucket holds. */
  readonly burst: number;
}

/**
 * The calls that share a bucket: those of a token, of all secret tokens of a workspace, of one network address, or of
 * one operation from one address.
 */
export type Bucket =
  | { readonly kind: "token"; readonly workspaceId: string; readonly tokenId: string }
  | { readonly kind: "workspace"; readonly workspaceId: string }
  | { readonly kind: "publishable"; readonly workspaceId: string; readonly address: string }
  | { readonly kind: "anonymous"; readonly address: string }
  | {
      readonly kind: "operation";
      readonly operation: string;
      readonly callsPerMinute: number;
      readonly address: string;
    };

export interface RateLimiter {
  /** Takes one call out of a bucket, without waiting; undefined when the limit is switched off. */
  take(bucket: Bucket): BucketState | undefined;
  /**
   * Takes several calls out of a bucket, for one call that costs as much. This may leave a debt, which is paid before
   * the next call. A bucket that is already in debt gives nothing, and the call is not allowed.
   */
  takeMore(bucket: Bucket, calls: number): BucketState | undefined;
  /** Reconciles the buckets touched since the last time with those of all other processes. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The headers that tell a caller its limit; empty when the limit is switched off. */
export function limitHeaders(bucket: BucketState | undefined): Readonly<Record<string, string>> {
  if (bucket === undefined) return {};
  const { burst, left, fullInSeconds } = bucket;
  return {
    "ratelimit-policy": `"default";q=${burst};w=2`,
    ratelimit: `"default";r=${left};t=${fullInSeconds}`,
  };
}

export interface RateLimiterDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly log: Pick<Logger, "warn">;
  /**
   * Calls per second; 0 switches a limit off. A full bucket holds twice as many. An `anonymous` limit of 0 also
   * switches the limits of single operations off; their full bucket holds a minute's calls.
   */
  readonly limits: {
    readonly token: number;
    readonly workspace: number;
    readonly publishable: number;
    readonly anonymous: number;
  };
}

interface LocalBucket {
  readonly workspaceId: string;
  readonly name: string;
  readonly rate: number;
  readonly burst: number;
  tokens: number;
  refilledAtMs: number;
  /** Calls taken in this process that the database does not know of yet. */
  unsynced: number;
}

const syncMs = 200;
const bucketsMax = 50_000;
const burstSeconds = 2;

/**
 * Token buckets decided in memory and reconciled with PostgreSQL in the background, every 200 ms in one statement for
 * all used buckets. Between two reconciliations each process may let through what it believes is left, so n processes
 * overshoot by at most n − 1 bursts. The excess becomes a debt (of at most one burst) that is paid before the next
 * call, so the rate holds over time. While the database is away each process goes on by itself.
 */
export function createRateLimiter({ limits, ...deps }: RateLimiterDeps): RateLimiter {
  const buckets = lruCache<LocalBucket>(bucketsMax);
  const { touch, sync, close } = createReconciler(deps);

  function take(bucket: Bucket, calls: number, leftMin: number): BucketState | undefined {
    const { rate, burst } = sizeOf(bucket, limits);
    if (rate === 0) return undefined;
    const nowMs = deps.now().getTime();
    const { key, workspaceId, name } = placeOf(bucket);
    let local = buckets.get(key);
    if (local === undefined) {
      local = { workspaceId, name, rate, burst, tokens: burst, refilledAtMs: nowMs, unsynced: 0 };
      buckets.set(key, local);
    }
    refill(local, nowMs);
    const isAllowed = local.tokens >= leftMin;
    if (isAllowed) {
      local.tokens -= calls;
      local.unsynced += calls;
      touch(local);
    }
    return stateOf(local, isAllowed);
  }

  return {
    take: (bucket) => take(bucket, 1, 1),
    takeMore: (bucket, calls) => take(bucket, calls, 0),
    sync,
    close,
  };
}

/** Tells the database of calls that buckets have let through, and buckets of what other processes have taken. */
function createReconciler({ db, now, log }: Omit<RateLimiterDeps, "limits">) {
  const touched = new Set<LocalBucket>();
  let timer: NodeJS.Timeout | undefined;
  let syncing: Promise<void> | undefined;
  let isAway = false;

  function syncSoon(): void {
    timer ??= setTimeout(() => void sync(), syncMs).unref();
  }

  function stopTimer(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  function sync(): Promise<void> {
    stopTimer();
    syncing = (syncing ?? Promise.resolve()).then(reconcile);
    return syncing;
  }

  async function reconcile(): Promise<void> {
    if (touched.size === 0) return;
    const batch = inOneOrder(touched);
    touched.clear();
    const taken = batch.map(({ unsynced }) => unsynced);
    for (const bucket of batch) bucket.unsynced = 0;
    try {
      const at = now();
      const left = await takeShared(db, at, batch, taken);
      for (const [index, bucket] of batch.entries()) {
        bucket.tokens = (left[index] ?? bucket.tokens + bucket.unsynced) - bucket.unsynced;
        bucket.refilledAtMs = Math.max(bucket.refilledAtMs, at.getTime());
      }
      isAway = false;
    } catch (error) {
      for (const [index, bucket] of batch.entries()) {
        bucket.unsynced = Math.min(bucket.unsynced + (taken[index] ?? 0), bucket.burst);
        // While the database is away, strangers could bring new addresses without end.
        if (touched.size < bucketsMax) touched.add(bucket);
      }
      syncSoon();
      if (!isAway) log.warn({ reason: failureMessage(error) }, "rate limits are kept by this process alone");
      isAway = true;
    }
  }

  return {
    /** Notes that a bucket has let calls through. */
    touch(bucket: LocalBucket): void {
      touched.add(bucket);
      syncSoon();
    },
    sync,
    async close(): Promise<void> {
      await sync();
      stopTimer();
    },
  };
}

/** Sorts buckets alike on every process, so that two processes never wait for each other's rows. */
function inOneOrder(buckets: Iterable<LocalBucket>): LocalBucket[] {
  return [...buckets].sort((a, b) => (a.workspaceId + a.name < b.workspaceId + b.name ? -1 : 1));
}

/** The calls that a bucket regains each second, and the calls that a full bucket holds. */
function sizeOf(bucket: Bucket, limits: RateLimiterDeps["limits"]): { rate: number; burst: number } {
  if (bucket.kind !== "operation")
    return { rate: limits[bucket.kind], burst: limits[bucket.kind] * burstSeconds };
  const { callsPerMinute } = bucket;
  return { rate: limits.anonymous === 0 ? 0 : callsPerMinute / 60, burst: callsPerMinute };
}

/** Where a bucket is kept: its key in this process, its row in the database. */
function placeOf(bucket: Bucket): { key: string; workspaceId: string; name: string } {
  switch (bucket.kind) {
    case "token":
      return { key: bucket.tokenId, workspaceId: bucket.workspaceId, name: bucket.tokenId };
    case "workspace":
      return { key: bucket.workspaceId, workspaceId: bucket.workspaceId, name: "workspace" };
    case "publishable": {
      const name = `publishable ${networkOf(bucket.address)}`;
      return { key: `${bucket.workspaceId} ${name}`, workspaceId: bucket.workspaceId, name };
    }
    case "anonymous": {
      const name = `anonymous ${networkOf(bucket.address)}`;
      return { key: name, workspaceId: noWorkspace, name };
    }
    case "operation": {
      const name = `${bucket.operation} ${networkOf(bucket.address)}`;
      return { key: name, workspaceId: noWorkspace, name };
    }
  }
}

function stateOf({ rate, burst, tokens }: LocalBucket, isAllowed: boolean): BucketState {
  return {
    isAllowed,
    left: Math.max(0, Math.floor(tokens)),
    fullInSeconds: Math.ceil((burst - tokens) / rate),
    retryAfterSeconds: Math.max(1, Math.ceil((1 - tokens) / rate)),
    burst,
  };
}

function refill(bucket: LocalBucket, nowMs: number): void {
  const seconds = Math.max(0, nowMs - bucket.refilledAtMs) / 1000;
  bucket.tokens = Math.min(bucket.burst, bucket.tokens + seconds * bucket.rate);
  bucket.refilledAtMs = nowMs;
}

/** Takes calls out of the shared buckets and returns what is left in each, in order; a negative number is a debt. */
async function takeShared(
  db: Db,
  at: Date,
  batch: readonly LocalBucket[],
  taken: readonly number[],
): Promise<(number | undefined)[]> {
  const { rows } = await sql<Pick<Selectable<RateLimits>, "workspace_id" | "bucket" | "tokens">>`
    with used as (
      select * from unnest(
        ${batch.map(({ workspaceId }) => workspaceId)}::uuid[],
        ${batch.map(({ name }) => name)}::text[],
        ${batch.map(({ rate }) => rate)}::float8[],
        ${batch.map(({ burst }) => burst)}::float8[],
        ${taken}::float8[]
      ) as used(workspace_id, bucket, rate, burst, taken)
    )
    insert into rate_limits as shared (workspace_id, bucket, tokens, refilled_at)
    select workspace_id, bucket, burst - taken, ${at}::timestamptz from used
    on conflict (workspace_id, bucket) do update set
      tokens = (
        select greatest(
          -used.burst,
          least(used.burst, shared.tokens
            + used.rate * greatest(0, extract(epoch from excluded.refilled_at - shared.refilled_at))) - used.taken)
        from used where used.workspace_id = excluded.workspace_id and used.bucket = excluded.bucket
      ),
      refilled_at = greatest(shared.refilled_at, excluded.refilled_at)
    returning workspace_id, bucket, tokens`.execute(db);
  const left = new Map(rows.map((row) => [`${row.workspace_id} ${row.bucket}`, row.tokens]));
  return batch.map(({ workspaceId, name }) => left.get(`${workspaceId} ${name}`));
}

/** Deletes the buckets that nobody used for an hour; they are full. */
export async function deleteIdleBuckets(db: Db, now: Date): Promise<void> {
  const hourAgo = new Date(now.getTime() - 3_600_000);
  await db.deleteFrom("rate_limits").where("refilled_at", "<", hourAgo).execute();
}
