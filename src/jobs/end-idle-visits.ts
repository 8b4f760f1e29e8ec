import { sql } from "kysely";
import { isLostRace, untilUndisturbed } from "../db/lost-races.ts";
import type { Db } from "../db/open.ts";
import type { PlanTable } from "../model/plans/plan-table.ts";
import { scoreVisits } from "../visitors/score-visit.ts";
import { idleMs } from "../workflow/journey.ts";

export interface EndIdleVisitsDeps {
  readonly db: Db;
  /** The plans that limit lead scores. */
  readonly plans: PlanTable;
  readonly now: () => Date;
  /** The most visits that one transaction ends. */
  readonly batchSize?: number;
}

/**
 * Ends the visits of all workspaces whose visitors have gone: their outcome becomes ABANDONED as of their last
 * activity, and they are scored. Any number of processes may run it at once. Visits that a visitor's request holds at
 * this moment are left for the next run.
 */
export async function endIdleVisits(
  { db, plans, now, batchSize = 500 }: EndIdleVisitsDeps,
  signal?: AbortSignal,
): Promise<void> {
  while (signal?.aborted !== true) {
    const at = now();
    const ended = await untilUndisturbed(
      () => db.transaction().execute((tx) => endSome(tx, plans, at, batchSize)),
      isLostRace,
    );
    if (ended < batchSize) return;
  }
}

async function endSome(tx: Db, plans: PlanTable, at: Date, limit: number): Promise<number> {
  const ended = await abandon(tx, at, limit);
  await scoreVisits(tx, plans, ended, at);
  return ended.length;
}

interface Ended {
  readonly workspaceId: string;
  readonly eventId: string;
}

/**
 * Locks visits and their events first, in the order that visitors' requests use, and skips locked rows instead of
 * waiting. The delete checks again that each visit is still idle.
 */
async function abandon(tx: Db, at: Date, limit: number): Promise<Ended[]> {
  const idleSince = new Date(at.getTime() - idleMs);
  const { rows } = await sql<Ended>`
    with locked as materialized (
      select e.workspace_id, e.id from visits v
      join events e on e.workspace_id = v.workspace_id and e.id = v.event_id
      where v.active_at <= ${idleSince}
      order by v.active_at limit ${limit}
      for no key update of v, e skip locked),
    gone as (
      delete from visits v using locked
      where v.workspace_id = locked.workspace_id and v.event_id = locked.id and v.active_at <= ${idleSince}
      returning v.workspace_id, v.event_id, v.active_at)
    update events e set outcome = 'ABANDONED', ended_at = gone.active_at, updated_at = ${at}
    from gone where e.workspace_id = gone.workspace_id and e.id = gone.event_id
    returning e.workspace_id as "workspaceId", e.id as "eventId"`.execute(tx);
  return rows;
}
