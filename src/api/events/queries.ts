import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Events, Traces } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import {
  type Asked,
  byAskedId,
  type Embedded,
  embeddedWithinAnswer,
  readEmbedded,
} from "../../db/within-answer.ts";
import { uuidFromTime } from "../../lib/ids.ts";
import type { Page } from "../../lib/paging/page.ts";
import type { DeviceRow } from "../resources/device.ts";
import type { LinkRow } from "../resources/link.ts";
import type { VisitorRow } from "../resources/visitor.ts";
import type { WorkspaceRow } from "../resources/workspace.ts";

export type EventRow = Selectable<Events>;
export type TraceRow = Selectable<Traces>;

/** Which events a list has. An undefined field does not narrow the list. Both times are inclusive. */
export interface EventFilter {
  readonly workspaceId: string;
  readonly linkId: string | undefined;
  readonly visitorId: string | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly counted: boolean | undefined;
  readonly uncountedReason: EventRow["uncounted_reason"] | undefined;
}

/**
 * One page and one more row, without locked events, newest first, because ids are in the order of time. Served by the index of the filter and
 * the id.
 */
export async function listEvents(db: Db, filter: EventFilter, page: Page<"none">): Promise<EventRow[]> {
  const beyond = page.after === undefined ? sql.raw("") : sql`and id < ${page.after.id}::uuid`;
  const { rows } = await sql<EventRow>`select * from events
    where ${matching(filter)} and locked_number is null ${beyond}
    order by id desc limit ${page.size + 1}`.execute(db);
  return rows;
}

export async function countEvents(db: Db, filter: EventFilter): Promise<bigint> {
  // Locked events are counted apart, by their own index: the others then need no look at their rows.
  const { rows } = await sql<{ total: bigint }>`select
      (select count(*) from events where ${matching(filter)})
      - (select count(*) from events where ${matching(filter)} and locked_number is not null) as total`.execute(
    db,
  );
  return rows[0]?.total ?? 0n;
}

function matching({
  workspaceId,
  linkId,
  visitorId,
  from,
  to,
  counted,
  uncountedReason,
}: EventFilter): RawBuilder<unknown> {
  const conditions = [sql`workspace_id = ${workspaceId}`];
  if (linkId !== undefined) conditions.push(sql`link_id = ${linkId}`);
  if (visitorId !== undefined) conditions.push(sql`visitor_id = ${visitorId}`);
  if (counted !== undefined) conditions.push(counted ? sql`counted` : sql`not counted`);
  // Served by events_uncounted_idx.
  if (uncountedReason !== undefined)
    conditions.push(sql`not counted and uncounted_reason = ${uncountedReason}`);
  // The bounds on ids leave out partitions of months that cannot match, because an id begins with the millisecond of
  // its event.
  if (from !== undefined)
    conditions.push(sql`created_at >= ${from} and id >= ${idBound(from.getTime())}::uuid`);
  if (to !== undefined) conditions.push(sql`created_at <= ${to} and id < ${idBound(to.getTime() + 1)}::uuid`);
  return sql.join(conditions, sql.raw(" and "));
}

// Ids hold no time before 1970.
function idBound(ms: number): string {
  return uuidFromTime(new Date(Math.max(0, ms)));
}

/** The traces of events, by event: first completed traces in the order of completion, then open ones. */
export function findTraces(
  db: Db,
  workspaceId: string,
  eventIds: readonly string[],
): Promise<Embedded<TraceRow>> {
  return readEmbedded(db, eventIds, {
    source: sql`select * from visit_traces where workspace_id = ${workspaceId} and event_id = asked.id ${between(eventIds)}`,
    bytes: sql`octet_length(record.data::text)`,
    order: sql`completed_at asc nulls last, created_at, id`,
  });
}

// The planner prunes no partitions for an array, but does for its smallest and largest id.
function between(ids: readonly string[]): RawBuilder<unknown> {
  const sorted = ids.toSorted((a, b) => (a < b ? -1 : 1));
  const least = sorted.at(0);
  const greatest = sorted.at(-1);
  if (least === undefined || greatest === undefined) return sql.raw("");
  return sql`and event_id >= ${least}::uuid and event_id <= ${greatest}::uuid`;
}

/**
 * One event with its traces, in the order of `findTraces`. Undefined when there is no such event, or it is locked or
 * from before `since`.
 */
export async function findEventWithTraces(
  db: Db,
  workspaceId: string,
  { eventId, since }: { readonly eventId: string; readonly since: Date | undefined },
): Promise<{ readonly event: TracedEvent; readonly traces: TraceRow[] } | undefined> {
  const { rows } = await sql<TracedEvent & { [Column in keyof TraceRow]: TraceRow[Column] | null }>`
    select e.link_id, e.visitor_id, t.* from events e
    left join visit_traces t on t.workspace_id = e.workspace_id and t.event_id = e.id and t.event_id = ${eventId}
    where e.workspace_id = ${workspaceId} and e.id = ${eventId} and e.locked_number is null
      and e.created_at >= ${since ?? "-infinity"}
    order by t.completed_at asc nulls last, t.created_at, t.id`.execute(db);
  const [event] = rows;
  if (event === undefined) return undefined;
  // A single row without a trace stands for an event without traces.
  return { event, traces: event.id === null ? [] : (rows as unknown as TraceRow[]) };
}

/** What a trace takes over from its event. */
export type TracedEvent = Pick<EventRow, "link_id" | "visitor_id">;

export function findDevices(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<Embedded<DeviceRow>> {
  return readEmbedded(db, ids, {
    source: sql`select * from devices where workspace_id = ${workspaceId} and id = asked.id`,
    bytes: sql`octet_length(record.user_agent)`,
    order: sql`id`,
  });
}

/**
 * Visitors with their attributes and counts. Served by devices_visitor_idx, visitor_attributes_pkey and
 * visitor_links_pkey.
 */
export async function findVisitors(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<Embedded<VisitorRow>> {
  // First only the size of the attributes is read. The attributes themselves are read for the visitors that fit into
  // the answer.
  const visitors = embeddedWithinAnswer(ids, {
    source: sql`select v.*, (select coalesce(sum(octet_length(a.key) + octet_length(a.value)), 0)
        from visitor_attributes a where a.workspace_id = v.workspace_id and a.visitor_id = v.id) as attribute_bytes
      from visitors v where v.workspace_id = ${workspaceId} and v.id = asked.id`,
    bytes: sql`record.attribute_bytes`,
  });
  const { rows } = await sql<Asked<VisitorRow>>`select v.*,
      (select count(*) from devices d where d.workspace_id = v.workspace_id and d.visitor_id = v.id
        and d.device_actor not in ('BOT', 'AGENT')) as device_count,
      visited.link_count, visited.visit_count,
      (select coalesce(jsonb_agg(jsonb_build_object('key', a.key, 'type', a.type, 'value', a.value)
          order by a.key collate "C"), '[]')
        from visitor_attributes a where a.workspace_id = v.workspace_id and a.visitor_id = v.id) as attributes
    from (${visitors}) v cross join lateral (
      select count(*) as link_count, coalesce(sum(event_count), 0)::bigint as visit_count from visitor_links vl
      where vl.workspace_id = v.workspace_id and vl.visitor_id = v.id) visited`.execute(db);
  return byAskedId(rows);
}

/** Whether the link and the visitor of a filter belong to the workspace. The link may be deleted. */
export async function findFiltered(
  db: Db,
  { workspaceId, linkId, visitorId }: EventFilter,
): Promise<{ readonly link: boolean; readonly visitor: boolean }> {
  const exists = (table: string, id: string | undefined) =>
    sql`exists (select from ${sql.table(table)} where workspace_id = ${workspaceId} and id = ${id ?? null}::uuid)`;
  const { rows } = await sql<{ link: boolean; visitor: boolean }>`
    select ${exists("links", linkId)} as link, ${exists("visitors", visitorId)} as visitor`.execute(db);
  // A select without a table always has one row.
  return rows[0] ?? { link: false, visitor: false };
}

/** The links among these that the workspace still has. */
export function findLinks(db: Db, workspaceId: string, ids: readonly string[]): Promise<Embedded<LinkRow>> {
  return readEmbedded(db, ids, {
    source: sql`select l.*, d.name as domain_name, c.event_count from living_links l
      left join custom_domains d on d.workspace_id = l.workspace_id and d.id = l.custom_domain_id
      left join link_counters c on c.workspace_id = l.workspace_id and c.link_id = l.id
      where l.workspace_id = ${workspaceId} and l.id = asked.id`,
    bytes: sql`octet_length(record.metadata::text) + octet_length(record.purpose)
      + octet_length(record.expired_destination)`,
    order: sql`id`,
  });
}

export async function findWorkspace(db: Db, workspaceId: string): Promise<WorkspaceRow | undefined> {
  const { rows } = await sql<WorkspaceRow>`select * from workspaces where id = ${workspaceId}`.execute(db);
  return rows[0];
}
