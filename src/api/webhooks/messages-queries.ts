import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { uuidFromTime } from "../../lib/ids.ts";

export interface CompletedStep {
  readonly id: string;
  readonly eventId: string;
  readonly stepId: string;
}

/** How long before a step its visit may have begun. */
const visitMs = 30 * 60_000;
/** How many visits are looked at, the newest of them. */
const visitsMax = 100;
/** How many steps are told of. */
const stepsMax = 200;

/** The steps of the newest visits that webhooks are told of, completed since a time, in the order of their visits. */
export async function completedSteps(db: Db, workspaceId: string, since: Date): Promise<CompletedStep[]> {
  const begun = uuidFromTime(new Date(since.getTime() - visitMs));
  const { rows } = await sql<CompletedStep>`
    select t.id, t.event_id as "eventId", t.step_id as "stepId"
    from (select workspace_id, id from events where workspace_id = ${workspaceId} and id > ${begun}::uuid
      and counted and locked_number is null order by id desc limit ${visitsMax}) e
    cross join lateral (select v.id, v.event_id, v.step_id from visit_traces v where v.workspace_id = e.workspace_id
      and v.event_id = e.id and v.completed_at >= ${since} and v.step_action is not null offset 0) t
    order by t.id limit ${stepsMax}`.execute(db);
  return rows;
}
