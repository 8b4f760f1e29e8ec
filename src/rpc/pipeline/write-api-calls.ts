import { type Selectable, sql } from "kysely";
import type { Logger } from "pino";
import type { AllowanceCycles } from "../../../gen/database.ts";
import { quotaMails } from "../../db/admin-mails.ts";
import { failureMessage } from "../../db/describe-failure.ts";
import type { Db } from "../../db/open.ts";
import type { Cycle } from "../../model/plans/cycle.ts";
import type { LimitKey } from "../../model/plans/plan-table.ts";

/** The calls of a workspace in one cycle, which have to be written. */
export interface CallCount {
  readonly workspaceId: string;
  readonly cycle: Cycle;
  /** Undefined where nothing limits the calls. */
  allowed: number | undefined;
  /** The calls of all processes, as this one has read them. */
  used: number;
  /** Calls of this process that the database does not know of yet. */
  unwritten: number;
}

/** Writes counts once a second. */
export interface CallWriter {
  /** Has a count written with the next ones. */
  touch(count: CallCount): void;
  /** Says once that the database is away. */
  warn(error: unknown): void;
  flush(): Promise<void>;
  /** Writes what is left and stops. */
  close(): Promise<void>;
}

export const apiCallsKey = "PUBLIC_API_CALLS" satisfies LimitKey;

/** How often counts are written, in milliseconds. A process that is killed loses the calls of this time. */
const flushMs = 1_000;

/** One statement adds the calls of all workspaces to those of other processes, and reads the sums. */
export function createCallWriter({
  db,
  log,
}: {
  readonly db: Db;
  readonly log: Pick<Logger, "warn">;
}): CallWriter {
  const touched = new Set<CallCount>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();
  let isAway = false;

  function warn(error: unknown): void {
    if (!isAway) log.warn({ reason: failureMessage(error) }, "API calls are counted late");
    isAway = true;
  }

  function touch(count: CallCount): void {
    touched.add(count);
    timer ??= setTimeout(() => void flush(), flushMs).unref();
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    flushing = flushing.then(write);
    return flushing;
  }

  async function write(): Promise<void> {
    if (touched.size === 0) return;
    const batch = [...touched].map((count) => ({ count, calls: count.unwritten }));
    touched.clear();
    for (const { count, calls } of batch) move(count, calls);
    try {
      const sums = await addCalls(db, mergedByKey(batch));
      for (const { count } of batch) count.used = sums.get(keyOf(count)) ?? count.used;
      isAway = false;
    } catch (error) {
      for (const { count, calls } of batch) {
        move(count, -calls);
        touch(count);
      }
      warn(error);
    }
  }

  return {
    touch,
    warn,
    flush,
    async close() {
      await flush();
      clearTimeout(timer);
    },
  };
}

function move(count: CallCount, calls: number): void {
  count.unwritten -= calls;
  count.used += calls;
}

function keyOf({ workspaceId, cycle }: CallCount): string {
  return `${workspaceId} ${cycle.month}`;
}

interface Counted {
  readonly count: CallCount;
  readonly calls: number;
}

/**
 * The calls of each workspace and cycle once, in the order of their rows. A count that was dropped from memory may be
 * written together with the one that replaced it, and a statement may write a row only once.
 */
function mergedByKey(batch: readonly Counted[]): Counted[] {
  const merged = new Map<string, Counted>();
  for (const { count, calls } of batch) {
    const key = keyOf(count);
    merged.set(key, { count, calls: calls + (merged.get(key)?.calls ?? 0) });
  }
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, counted]) => counted);
}

/** The calls of a workspace in a cycle, of all processes. */
export async function findCalls(db: Db, workspaceId: string, cycle: string): Promise<number> {
  const row = await db
    .selectFrom("allowance_cycles")
    .select("used")
    .where("workspace_id", "=", workspaceId)
    .where("limit_key", "=", apiCallsKey)
    .where("cycle", "=", cycle)
    .executeTakeFirst();
  return Number(row?.used ?? 0n);
}

type SumRow = Pick<Selectable<AllowanceCycles>, "workspace_id" | "cycle" | "used">;

/** Adds the calls to those of other processes, and returns the sums by workspace and cycle. */
async function addCalls(db: Db, batch: readonly Counted[]): Promise<ReadonlyMap<string, number>> {
  const allowed = batch.map(({ count }) => count.allowed ?? null);
  const { rows } = await sql<SumRow>`
    with given as (
      select * from unnest(
        ${batch.map(({ count }) => count.workspaceId)}::uuid[],
        ${batch.map(({ count }) => count.cycle.month)}::text[],
        ${batch.map(({ calls }) => calls)}::bigint[],
        ${allowed}::bigint[]) with ordinality as given (workspace_id, cycle, calls, allowed, place)),
    sums as (
      insert into allowance_cycles as sums (workspace_id, limit_key, cycle, used)
      select workspace_id, ${apiCallsKey}, cycle, calls from given
      -- A purge leaves nothing behind, so nothing is written after it.
      where exists (select from workspaces w where w.id = given.workspace_id and w.purge_began_at is null)
      order by place
      on conflict (workspace_id, limit_key, cycle) do update set used = sums.used + excluded.used
      returning workspace_id, cycle, used),
    written as (select sums.*, sums.used - given.calls as before, given.allowed
      from sums join given using (workspace_id, cycle)),
    mails as (select from ${quotaMails(sql`written`, {
      workspaceId: sql.ref("written.workspace_id"),
      limit: sql.lit(apiCallsKey),
      before: sql.ref("written.before"),
      after: sql.ref("written.used"),
      allowed: sql.ref("written.allowed"),
    })} as queued)
    select workspace_id, cycle, used from sums, (select count(*) from mails) as told`.execute(db);
  return new Map(rows.map((row) => [`${row.workspace_id} ${row.cycle}`, Number(row.used)]));
}
