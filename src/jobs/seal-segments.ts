import { sql } from "kysely";
import type pg from "pg";
import { type SealDeps, sealWorkspace } from "../analytics/segments/seal-workspace.ts";
import { openSession } from "../analytics/segments/session.ts";
import { isLockTimeout } from "../db/lost-races.ts";
import type { Db } from "../db/open.ts";
import { uuidFromTime } from "../lib/ids.ts";

export interface SealingDeps extends Pick<SealDeps, "now" | "settledMs" | "openMax"> {
  readonly db: Db;
  readonly connection: string | pg.ConnectionConfig;
}

/** The queue of these jobs: one of them runs at a time. */
export const sealing = "seal-segments";

/** The clock queues a run every minute, and each of those runs queues more after so many seconds. */
const againSeconds = [20, 40];

/** How long one run goes on at most, in milliseconds. Another run goes on with what it leaves. */
const runMsMax = 15_000;

/** How long one workspace is sealed at a time, in milliseconds. A later run goes on with it. */
const turnMsMax = 5_000;

/** How often all workspaces are looked through for days that are over, in milliseconds. */
const dayCheckMs = 10 * 60_000;

/** How many workspaces one run seals at most. */
const workspacesMax = 1_000;

/** The task that seals what is due of all workspaces. */
export function createSealing(deps: SealingDeps): (payload: unknown, signal: AbortSignal) => Promise<void> {
  const { db } = deps;
  const seal = createSealer(deps);
  return async (payload, signal) => {
    const isOfClock = typeof payload === "object" && payload !== null && "_cron" in payload;
    for (const seconds of isOfClock ? againSeconds : [])
      await sql`select from graphile_worker.add_job(${sealing}, queue_name => ${sealing},
        run_at => now() + make_interval(secs => ${seconds}), job_key => ${`${sealing}-${seconds}`}::text)`.execute(
        db,
      );
    await seal(signal);
  };
}

/**
 * Seals what is due of all workspaces, as far as it comes in some seconds. One workspace that cannot be sealed does not
 * hold up the others.
 */
export function createSealer(deps: SealingDeps): (signal?: AbortSignal) => Promise<void> {
  const { now, connection, settledMs = 10_000 } = deps;
  let daysCheckedMs = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    const beganMs = performance.now();
    const session = await openSession(connection);
    const failures: unknown[] = [];
    try {
      const areDaysDue = Math.abs(beganMs - daysCheckedMs) >= dayCheckMs;
      const due = new Set(await markedWorkspaces(session.db, settledMs));
      if (areDaysDue) for (const id of await unsealedWorkspaces(session.db, now())) due.add(id);
      let isCut = due.size >= workspacesMax;
      for (const workspaceId of due) {
        isCut ||= signal?.aborted === true || performance.now() - beganMs > runMsMax;
        if (signal?.aborted === true || performance.now() - beganMs > runMsMax) break;
        const turn = AbortSignal.timeout(turnMsMax);
        const until = signal === undefined ? turn : AbortSignal.any([signal, turn]);
        await sealWorkspace({ ...deps, session }, workspaceId, until).catch((error: unknown) => {
          // The writers of the workspace were busy for too long: the next run tries again.
          if (!isLockTimeout(error)) failures.push(error);
        });
        isCut ||= turn.aborted;
      }
      if (areDaysDue && !isCut) daysCheckedMs = beganMs;
    } finally {
      await session.close();
    }
    if (failures.length > 0) throw failures[0];
  };
}

/** Workspaces with settled marks, those that have waited longest first. */
async function markedWorkspaces(db: Db, settledMs: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select workspace_id as id from segment_marks
    where marked_at <= clock_timestamp() - make_interval(secs => ${settledMs / 1000})
    group by workspace_id order by min(marked_at) limit ${workspacesMax}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Workspaces with visits of a day that is over, or whose sealing was cut short. Of each workspace, only its newest visit
 * and its last segment are looked at.
 */
async function unsealedWorkspaces(db: Db, at: Date): Promise<string[]> {
  const day = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()));
  const { rows } = await sql<{ id: string }>`select w.id from workspaces w
    where w.purge_began_at is null and (w.inactive_since is null or w.sealed_through is null) and (
      coalesce(w.sealed_through, '-infinity') < ${day} and coalesce(w.sealed_through, '-infinity') <= (
        select e.created_at from events e where e.workspace_id = w.id and e.id < ${uuidFromTime(day)}
        order by e.id desc limit 1)
      or w.sealed_through > coalesce((select s.ends_at from segments s where s.workspace_id = w.id
        order by s.begins_at desc limit 1), '-infinity'))
    order by w.sealed_through nulls first limit ${workspacesMax}`.execute(db);
  return rows.map(({ id }) => id);
}
