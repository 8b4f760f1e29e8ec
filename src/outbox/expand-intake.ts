import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { type StepAction, stepActions } from "../model/steps/kinds.ts";

/** How many messages one call makes, about. */
const messagesMax = 5_000;

/**
 * Makes messages of queued steps: one row of the intake of each workspace at most, the oldest first, so that no
 * workspace holds up others. Returns how many rows it took. Others may call it at the same time.
 */
export async function expandIntake(db: Db, now: Date): Promise<number> {
  const { rows } = await sql<{ taken: number }>`
    with oldest as (
      select distinct on (workspace_id) workspace_id, id, messages from outbox_intake order by workspace_id, id),
    chosen as (
      select workspace_id, id, sum(messages) over (order by id, workspace_id) - messages as before from oldest),
    locked as (
      select i.workspace_id, i.id from outbox_intake i join chosen c on c.workspace_id = i.workspace_id and c.id = i.id
      where c.before < ${messagesMax} for update of i skip locked),
    taken as (
      delete from outbox_intake i using locked l where i.workspace_id = l.workspace_id and i.id = l.id returning i.*),
    queued as (
      select t.workspace_id, t.subscriber_ids, q.event_id, q.step_id from taken t
      join workspaces w on w.id = t.workspace_id and w.deleted_at is null
      cross join lateral unnest(t.event_ids, t.step_ids) as q (event_id, step_id)),
    step as (
      select q.workspace_id, q.subscriber_ids, e.link_id, t.* from queued q
      join events e on e.workspace_id = q.workspace_id and e.id = q.event_id
      cross join lateral (
        select v.id, v.event_id, v.step_id, ${kindOf} as kind from visit_traces v
        where v.workspace_id = q.workspace_id and v.event_id = q.event_id and v.step_action is not null
          and v.completed_at is not null
          -- Later answers complete steps after the first request.
          and case when q.step_id is null then v.completed_at <= e.created_at else v.step_id = q.step_id end) t),
    made as (
      insert into outbox_messages (workspace_id, subscriber_id, id, event_id, step_id, next_attempt_at, created_at)
      select s.workspace_id, s.id, step.id, step.event_id, step.step_id, ${now}, ${now} from step
      join outbox_subscribers s on s.workspace_id = step.workspace_id and s.id = any(step.subscriber_ids)
      where (s.link_id is null or s.link_id = step.link_id) and (s.triggers = '{}' or step.kind = any(s.triggers))
      -- A step that was completed again, or that was replayed.
      on conflict on constraint outbox_messages_pkey do nothing
      returning workspace_id, subscriber_id),
    lines as (${bumpLines(sql`(select distinct workspace_id, subscriber_id from made)`, now)} returning 1)
    -- Counted, because PostgreSQL does not run what nothing reads.
    select (select count(*) from taken)::int as taken, (select count(*) from lines) as lines`.execute(db);
  return rows[0]?.taken ?? 0;
}

/** Puts the subscribers of `rows` on the lines, as having messages that are due. */
export function bumpLines(rows: ReturnType<typeof sql>, now: Date) {
  return sql`insert into outbox_lines as l (workspace_id, subscriber_id, due_at)
    select workspace_id, subscriber_id, ${now}::timestamptz from ${rows} as given order by 1, 2
    on conflict on constraint outbox_lines_pkey do update set due_at = least(l.due_at, excluded.due_at),
      revision = l.revision + 1`;
}

/** The kind of the step of `v`, such as EXIT. */
const kindOf = sql`case ${sql.join(
  Object.entries(
    Object.groupBy(Object.keys(stepActions) as StepAction[], (action) => stepActions[action].kind),
  ).map(
    ([kind, actions]) =>
      sql`when v.step_action in (${sql.join(actions.map((action) => sql.lit(action)))}) then ${sql.lit(kind)}`,
  ),
  sql.raw(" "),
)} end`;
