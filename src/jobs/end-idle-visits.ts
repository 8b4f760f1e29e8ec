import { sql } from "kysely";
import { plainArray } from "../db/array-literal.ts";
import { isLostRace, untilUndisturbed } from "../db/lost-races.ts";
import type { Db } from "../db/open.ts";
import type { PlanTable } from "../model/plans/plan-table.ts";
import { shareRollUps } from "../visitors/roll-ups.ts";
import { scoreVisits } from "../visitors/score-visit.ts";
import { isSealed, markVisits } from "../visitors/segment-marks.ts";
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
  const idleSince = new Date(at.getTime() - idleMs);
  const { rows } = await sql<{ id: string }>`
    select distinct workspace_id as id from (
      select workspace_id from visits where active_at <= ${idleSince} order by active_at limit ${limit}) as idle`.execute(
    tx,
  );
  const workspaceIds = rows.map(({ id }) => id);
  if (workspaceIds.length === 0) return 0;
  await shareRollUps(workspaceIds).execute(tx);
  const ended = await abandon(tx, { workspaceIds, idleSince, at, limit });
  await markVisits(
    tx,
    ended
      .filter((visit) => visit.isSealed)
      .map(({ workspaceId, createdAt }) => ({ workspaceId, at: createdAt })),
  );
  await scoreVisits(tx, plans, ended, at);
  return ended.length;
}

interface Ended {
  readonly workspaceId: string;
  readonly eventId: string;
  readonly createdAt: Date;
  readonly isSealed: boolean;
}

interface Idle {
  /** Their roll-ups are shared. */
  readonly workspaceIds: readonly string[];
  readonly idleSince: Date;
  readonly at: Date;
  readonly limit: number;
}

/**
 * Locks visits and their events first, in the order that visitors' requests use, and skips locked rows instead of
 * waiting. The delete checks again that each visit is still idle.
 */
async function abandon(tx: Db, { workspaceIds, idleSince, at, limit }: Idle): Promise<Ended[]> {
  const { rows } = await sql<Ended>`
    with locked as materialized (
      select e.workspace_id, e.id from visits v
      join events e on e.workspace_id = v.workspace_id and e.id = v.event_id
      where v.active_at <= ${idleSince} and v.workspace_id = any(${plainArray(workspaceIds)}::uuid[])
      order by v.active_at limit ${limit}
      for no key update of v, e skip locked),
    gone as (
      delete from visits v using locked
      where v.workspace_id = locked.workspace_id and v.event_id = locked.id and v.active_at <= ${idleSince}
      returning v.workspace_id, v.event_id, v.active_at)
    update events e set outcome = 'ABANDONED', ended_at = gone.active_at, updated_at = ${at}
    from gone where e.workspace_id = gone.workspace_id and e.id = gone.event_id
    returning e.workspace_id as "workspaceId", e.id as "eventId", e.created_at as "createdAt", ${isSealed} as "isSealed"`.execute(
    tx,
  );
  return rows;
}
