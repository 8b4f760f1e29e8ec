import { type RawBuilder, sql } from "kysely";
import { plainArray } from "../db/array-literal.ts";
import { lockClasses } from "../db/locks.ts";
import type { Db } from "../db/open.ts";

/**
 * Roll-ups are folds over counted events. This file folds all events from nothing. The drain adds the events that it
 * has just written, by the same folds over what it knows of its visits. Both come to the same rows, to the byte.
 */

/** How many locks all workspaces share, which bounds what one transaction holds. */
const lockCount = 64;

/**
 * Locks the roll-ups of these workspaces for all transactions that fold their events, and against a rebuild meanwhile.
 * Take it before events are written. Otherwise a rebuild could count them, and the drain would count them again.
 */
export function shareRollUps(workspaceIds: readonly string[]): RawBuilder<unknown> {
  return sql`select pg_advisory_xact_lock_shared(${lockClasses.rollUps}, number)
    from (select distinct abs(hashtext(id) % ${lockCount}) as number
      from unnest(${`{${workspaceIds.join()}}`}::text[]) as given (id) order by number) as locks`;
}

/** Locks the roll-ups of a workspace alone: nobody writes events of it until the transaction ends. */
export function holdRollUps(workspaceId: string): RawBuilder<unknown> {
  return sql`select pg_advisory_xact_lock(${lockClasses.rollUps}, abs(hashtext(${workspaceId}) % ${lockCount}))`;
}

/**
 * Makes the roll-ups of one workspace, or of all, again from the events. The result is the same to the byte. While a
 * workspace is folded, the drain waits with its visits and those of about one in 64 other workspaces. Visitors do not
 * notice.
 */
export async function rebuildRollUps(db: Db, workspaceId?: string): Promise<void> {
  for (const id of workspaceId === undefined ? await livingWorkspaces(db) : [workspaceId])
    await db.transaction().execute((tx) => rebuildWorkspace(tx, id));
}

async function livingWorkspaces(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom("workspaces")
    .select("id")
    .where("purge_began_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

async function rebuildWorkspace(tx: Db, workspaceId: string): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(tx);
  await holdRollUps(workspaceId).execute(tx);
  const source = sourceOf(sql`events e`, sql`e.workspace_id = ${workspaceId}`);
  // Every link has a counter from its creation on, even without visits.
  await sql`
    with source as materialized (${source}), fold as (${linkCounters}),
    emptied as (
      update link_counters c set event_count = 0
      where c.workspace_id = ${workspaceId} and c.event_count <> 0
        and not exists (select from fold f where f.link_id = c.link_id))
    insert into link_counters (workspace_id, link_id, event_count) select * from fold
    on conflict (workspace_id, link_id) do update set event_count = excluded.event_count`.execute(tx);
  await tx.deleteFrom("visitor_links").where("workspace_id", "=", workspaceId).execute();
  await sql`
    with source as materialized (${source})
    insert into visitor_links (workspace_id, visitor_id, link_id, event_count, first_visited_at, last_visited_at)
    ${visitorLinks}`.execute(tx);
}

/** Adds events of one workspace, which were stored before and are counted only now, to the roll-ups. */
export async function addEvents(tx: Db, workspaceId: string, ids: readonly string[]): Promise<void> {
  const source = sourceOf(
    sql`events e`,
    sql`e.workspace_id = ${workspaceId} and e.id = any(${plainArray(ids)}::uuid[])`,
  );
  await sql`
    with source as materialized (${source})
    insert into visitor_links (workspace_id, visitor_id, link_id, event_count, first_visited_at, last_visited_at)
    select * from (${visitorLinks}) as fold order by visitor_id, link_id
    on conflict (workspace_id, visitor_id, link_id) do update
      set event_count = visitor_links.event_count + excluded.event_count,
        first_visited_at = least(visitor_links.first_visited_at, excluded.first_visited_at),
        last_visited_at = greatest(visitor_links.last_visited_at, excluded.last_visited_at)`.execute(tx);
  await sql`
    with source as materialized (${source})
    insert into link_counters (workspace_id, link_id, event_count) ${linkCounters}
    on conflict (workspace_id, link_id) do update
      set event_count = link_counters.event_count + excluded.event_count`.execute(tx);
}

/** Counted events that are not locked. */
function sourceOf(events: RawBuilder<unknown>, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select e.workspace_id, e.link_id, e.visitor_id, e.created_at from ${events}
    where ${condition} and e.counted and e.locked_number is null`;
}

const linkCounters = sql.raw(`
  select workspace_id, link_id, count(*) as event_count from source
  group by workspace_id, link_id order by workspace_id, link_id`);

const visitorLinks = sql.raw(`
  select workspace_id, visitor_id, link_id, count(*) as event_count, min(created_at) as first_visited_at,
    max(created_at) as last_visited_at
  from source where visitor_id is not null
  group by workspace_id, visitor_id, link_id`);
