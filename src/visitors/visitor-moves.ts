import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Events, Visitors } from "../../gen/database.ts";
import type { Db } from "../db/open.ts";
import { noteVisits } from "./pages/note-visits.ts";
import { isSealed, markVisits } from "./segment-marks.ts";

/**
 * Moves devices and events between visitors. Every writer, including the drain of visits, takes locks in one order:
 * visitors' rows first, then devices, then events, then roll-ups and traces, each by key. Callers here have already
 * locked the visitors' rows. A visit is stored only with its device locked, so a transaction that holds all devices of
 * a visitor knows all of the visitor's events.
 */

/** How many custom attributes a visitor has at most. Further keys are not stored. */
export const visitorAttributesMax = 200;

export interface Move {
  readonly workspaceId: string;
  readonly at: Date;
  readonly from: string;
  readonly to: string;
}

export interface MovedEvent {
  readonly id: string;
  readonly deviceId: string;
}

/** Locks visitors in the order of their ids, as every writer that needs several does. */
export async function lockVisitors(
  tx: Db,
  workspaceId: string,
  ids: readonly (string | null)[],
): Promise<Selectable<Visitors>[]> {
  const known = ids.filter((id) => id !== null);
  if (known.length === 0) return [];
  const { rows } = await sql<Selectable<Visitors>>`select * from visitors
    where workspace_id = ${workspaceId} and id = any(${known}::uuid[]) order by id for update`.execute(tx);
  return rows;
}

/** Merges a visitor into another. Devices, events and attributes that the other lacks move, and the row is deleted. */
export async function absorbVisitor(tx: Db, { workspaceId, at, from, to }: Move): Promise<void> {
  await sql`update devices d set visitor_id = ${to}, updated_at = greatest(d.updated_at, ${at})
    where workspace_id = ${workspaceId} and id in (
      select id from devices where workspace_id = ${workspaceId} and visitor_id = ${from} order by id for update)`.execute(
    tx,
  );
  await sql`update events set visitor_id = ${to}, updated_at = greatest(updated_at, ${at})
    where workspace_id = ${workspaceId} and visitor_id = ${from}`.execute(tx);
  await sql`
    with gone as (
      delete from visitor_links where workspace_id = ${workspaceId} and visitor_id = ${from}
      returning link_id, event_count, first_visited_at, last_visited_at)
    insert into visitor_links (workspace_id, visitor_id, link_id, event_count, first_visited_at, last_visited_at)
    select ${workspaceId}, ${to}, link_id, event_count, first_visited_at, last_visited_at from gone order by link_id
    on conflict (workspace_id, visitor_id, link_id) do update ${addedUp}`.execute(tx);
  await noteVisits(tx, [{ workspaceId, visitorId: to }]);
  await sql`
    with gone as (
      delete from visitor_attributes where workspace_id = ${workspaceId} and visitor_id = ${from}
      returning key, type, value, created_at, updated_at),
    known as (select key from visitor_attributes where workspace_id = ${workspaceId} and visitor_id = ${to})
    insert into visitor_attributes (workspace_id, visitor_id, key, type, value, created_at, updated_at)
    select ${workspaceId}, ${to}, key, type, value, created_at, updated_at from gone
    where key not in (select key from known) order by key
    limit greatest(0, ${visitorAttributesMax} - (select count(*) from known))`.execute(tx);
  await sql`
    with gone as (delete from visitors where workspace_id = ${workspaceId} and id = ${from} returning number)
    ${numbersMoved(workspaceId, sql`select number from visitors where workspace_id = ${workspaceId} and id = ${to}`)}`.execute(
    tx,
  );
}

/** Notes that the numbers in `gone` became another, of which segments know nothing. Follows `with gone as (…)`. */
export function numbersMoved(workspaceId: string, toNumber: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`, moved as (
      update moved_visitors m set to_number = (${toNumber}), moved_in = default from gone
      where m.workspace_id = ${workspaceId} and m.to_number = gone.number)
    insert into moved_visitors (workspace_id, number, to_number)
    select ${workspaceId}::uuid, number, (${toNumber}) from gone`;
}

/** Moves one event from one visitor to another, and its device if the device still belongs to the former. */
export async function moveEvent(
  tx: Db,
  { workspaceId, at, from, to, event }: Move & { readonly event: MovedEvent },
): Promise<void> {
  await sql`update devices set visitor_id = ${to}, updated_at = greatest(updated_at, ${at})
    where workspace_id = ${workspaceId} and id = ${event.deviceId} and visitor_id = ${from}`.execute(tx);
  const { rows } = await sql<Pick<Selectable<Events>, "link_id"> & GivenEvent>`
    update events e set visitor_id = ${to}, updated_at = greatest(updated_at, ${at})
    where workspace_id = ${workspaceId} and id = ${event.id} and visitor_id = ${from}
    returning link_id, ${givenEvent}`.execute(tx);
  const [moved] = rows;
  if (moved?.is_folded !== true) return;
  if (moved.is_sealed) await markVisits(tx, [{ workspaceId, at: moved.created_at }]);
  // The rows are locked before they are folded again, because the visitor's other devices may be in use.
  await sql`select from visitor_links where workspace_id = ${workspaceId} and link_id = ${moved.link_id}
    and visitor_id = any(${[from, to]}::uuid[]) order by visitor_id for update`.execute(tx);
  await sql`delete from visitor_links where workspace_id = ${workspaceId} and visitor_id = ${from}
    and link_id = ${moved.link_id}`.execute(tx);
  await sql`
    insert into visitor_links (workspace_id, visitor_id, link_id, event_count, first_visited_at, last_visited_at)
    select workspace_id, visitor_id, link_id, count(*), min(created_at), max(created_at) from events
    where workspace_id = ${workspaceId} and visitor_id = ${from} and link_id = ${moved.link_id} and counted
      and locked_number is null
    group by workspace_id, visitor_id, link_id`.execute(tx);
  await countEvent(tx, workspaceId, event.id, to);
}

/**
 * Gives a visitor to an event without one, and to its device if that has none either. False when the event has a
 * visitor by now; then nothing but the device may have changed.
 */
export async function attachEvent(
  tx: Db,
  {
    workspaceId,
    at,
    event,
    to,
  }: { readonly workspaceId: string; readonly at: Date; readonly event: MovedEvent; readonly to: string },
): Promise<boolean> {
  await sql`update devices set visitor_id = ${to}, updated_at = greatest(updated_at, ${at})
    where workspace_id = ${workspaceId} and id = ${event.deviceId} and visitor_id is null
      and device_actor not in ('BOT', 'AGENT')`.execute(tx);
  const { rows } = await sql<GivenEvent>`
    update events e set visitor_id = ${to}, updated_at = greatest(updated_at, ${at})
    where workspace_id = ${workspaceId} and id = ${event.id} and visitor_id is null
    returning ${givenEvent}`.execute(tx);
  const [attached] = rows;
  if (attached?.is_folded === true) {
    await countEvent(tx, workspaceId, event.id, to);
    if (attached.is_sealed) await markVisits(tx, [{ workspaceId, at: attached.created_at }]);
  }
  return attached !== undefined;
}

/** An event that another visitor gets. */
interface GivenEvent extends Pick<Selectable<Events>, "created_at"> {
  /** Whether roll-ups count it. */
  readonly is_folded: boolean;
  readonly is_sealed: boolean;
}

const givenEvent = sql`created_at, counted and locked_number is null as is_folded, ${isSealed} as is_sealed`;

/** Adds an event to its visitor's roll-up, as the drain does. */
async function countEvent(tx: Db, workspaceId: string, eventId: string, visitorId: string): Promise<void> {
  await sql`
    insert into visitor_links (workspace_id, visitor_id, link_id, event_count, first_visited_at, last_visited_at)
    select workspace_id, visitor_id, link_id, 1, created_at, created_at from events
    where workspace_id = ${workspaceId} and id = ${eventId} and visitor_id is not null
    on conflict (workspace_id, visitor_id, link_id) do update ${addedUp}`.execute(tx);
  await noteVisits(tx, [{ workspaceId, visitorId }]);
}

const addedUp = sql.raw(`set event_count = visitor_links.event_count + excluded.event_count,
  first_visited_at = least(visitor_links.first_visited_at, excluded.first_visited_at),
  last_visited_at = greatest(visitor_links.last_visited_at, excluded.last_visited_at)`);
