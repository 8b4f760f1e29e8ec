import { type RawBuilder, sql } from "kysely";
import { lockClasses } from "../db/locks.ts";
import type { Db } from "../db/open.ts";

/**
 * Roll-ups are folds over counted events. Here they start from nothing; the drain adds what it has just written, by the
 * same folds over what it knows of its visits. Both come to the same rows, to the byte.
 */

/** Workspaces share so many locks, which bounds what one transaction holds. */
const lockCount = 64;

/**
 * Shared by all who fold events of these workspaces in this transaction, and refused to a rebuild of them meanwhile. To
 * be taken before the events are written, or a rebuild could count them and the drain once more.
 */
export function shareRollUps(workspaceIds: readonly string[]): RawBuilder<unknown> {
  return sql`select pg_advisory_xact_lock_shared(${lockClasses.rollUps}, number)
    from (select distinct abs(hashtext(id) % ${lockCount}) as number
      from unnest(${`{${workspaceIds.join()}}`}::text[]) as given (id) order by number) as locks`;
}

/**
 * Makes the roll-ups of one workspace, or of all, again from the events; the result is the same to the byte. The drain
 * waits while a workspace is being folded, at most one in 64 of the others with it; visitors do not notice.
 */
export async function rebuildRollUps(db: Db, workspaceId?: string): Promise<void> {
  const ids =
    workspaceId === undefined
      ? (await db.selectFrom("workspaces").select("id").orderBy("id").execute()).map(({ id }) => id)
      : [workspaceId];
  for (const id of ids) await db.transaction().execute((tx) => rebuildWorkspace(tx, id));
}

async function rebuildWorkspace(tx: Db, workspaceId: string): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(tx);
  await sql`select pg_advisory_xact_lock(${lockClasses.rollUps}, abs(hashtext(${workspaceId}) % ${lockCount}))`.execute(
    tx,
  );
  const source = sourceOf(sql`events e`, sql`e.workspace_id = ${workspaceId}`);
  // Links have a counter from their creation on, also those nobody visited.
  await sql`
    with source as materialized (${source}), fold as (${linkCounters}),
    emptied as (
      update link_counters c set event_count = 0
      where c.workspace_id = ${workspaceId} and c.event_count <> 0
        and not exists (select from fold f where f.link_id = c.link_id))
    insert into link_counters (workspace_id, link_id, event_count) select * from fold
    on conflict (workspace_id, link_id) do update set event_count = excluded.event_count`.execute(tx);
  await tx.deleteFrom("event_rollups").where("workspace_id", "=", workspaceId).execute();
  await sql`
    with source as materialized (${source})
    insert into event_rollups (workspace_id, link_id, hour, dimension, value, event_count) ${eventRollups}`.execute(
    tx,
  );
  await tx.deleteFrom("visitor_links").where("workspace_id", "=", workspaceId).execute();
  await sql`
    with source as materialized (${source})
    insert into visitor_links (workspace_id, visitor_id, link_id, event_count, first_visited_at, last_visited_at)
    ${visitorLinks}`.execute(tx);
}

/** Counted events with what they are counted by. What a device is never changes, so the past folds as it did then. */
function sourceOf(events: RawBuilder<unknown>, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select e.workspace_id, e.link_id, e.visitor_id, e.created_at, e.visit_type, d.device_type, d.country, d.city,
      d.browser_name, d.platform_name
    from ${events}
    left join devices d on d.workspace_id = e.workspace_id and d.id = e.device_id
    where ${condition} and e.counted`;
}

const linkCounters = sql.raw(`
  select workspace_id, link_id, count(*) as event_count from source
  group by workspace_id, link_id order by workspace_id, link_id`);

/** Events per hour (UTC): all of them under `events`, and by each dimension where its value is known. */
const eventRollups = sql.raw(`
  select workspace_id, link_id, date_trunc('hour', created_at, 'UTC') as hour, dimension, value,
    count(*) as event_count
  from source, lateral (values
    ('events', ''), ('visit_type', visit_type::text), ('device_type', device_type::text), ('country', country),
    ('city', city), ('browser', browser_name), ('platform', platform_name)) as by (dimension, value)
  where dimension = 'events' or value <> ''
  group by workspace_id, link_id, hour, dimension, value`);

const visitorLinks = sql.raw(`
  select workspace_id, visitor_id, link_id, count(*) as event_count, min(created_at) as first_visited_at,
    max(created_at) as last_visited_at
  from source where visitor_id is not null
  group by workspace_id, visitor_id, link_id`);
