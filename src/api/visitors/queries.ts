import { type RawBuilder, sql } from "kysely";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import { type Embedded, readEmbedded, withinAnswer } from "../../db/within-answer.ts";
import { uuidFromTime } from "../../lib/ids.ts";
import type { Page } from "../../lib/paging/page.ts";
import type { DeviceRow } from "../resources/device.ts";
import type { AttributeRow, VisitorRow } from "../resources/visitor.ts";

export interface SizedVisitorRow extends VisitorRow {
  /** How many bytes the attributes have. */
  readonly bytes: number;
}

const deviceCount = sql.raw(`(select count(*) from devices d where d.workspace_id = v.workspace_id
  and d.visitor_id = v.id and d.device_actor not in ('BOT', 'AGENT'))`);
const linkCount = sql.raw(`(select count(*) from visitor_links vl where vl.workspace_id = v.workspace_id
  and vl.visitor_id = v.id)`);
const visitCount = sql.raw(`(select coalesce(sum(vl.event_count), 0)::bigint from visitor_links vl
  where vl.workspace_id = v.workspace_id and vl.visitor_id = v.id)`);

// Served by devices_visitor_idx, visitor_links_pkey and visitor_attributes_pkey.
const visitorColumns = sql`v.*, ${deviceCount} as device_count, ${linkCount} as link_count,
  ${visitCount} as visit_count,
  (select coalesce(jsonb_agg(jsonb_build_object('key', a.key, 'type', a.type, 'value', a.value)
      order by a.key collate "C"), '[]')
    from visitor_attributes a where a.workspace_id = v.workspace_id and a.visitor_id = v.id) as attributes`;

export async function findVisitor(db: Db, workspaceId: string, id: string): Promise<VisitorRow | undefined> {
  const { rows } = await sql<VisitorRow>`select ${visitorColumns} from visitors v
    where v.workspace_id = ${workspaceId} and v.id = ${id}`.execute(db);
  return rows[0];
}

/** Visitors in the order of their creation: all, or the one with an address. */
export interface VisitorListing {
  readonly workspaceId: string;
  /** Case-folded. Undefined for all visitors. */
  readonly email: string | undefined;
  readonly ascending: boolean;
  readonly page: Page<"time" | "count">;
}

// It reads how long the attributes are, without reading their values.
const attributeBytes = sql.raw(`(select coalesce(sum(octet_length(a.key) + octet_length(a.value)), 0)
  from visitor_attributes a where a.workspace_id = page.workspace_id and a.visitor_id = page.id)`);

/** One page and one more row, as far as it fits into an answer. Served by visitors_page_idx and visitors_email_key. */
export async function listVisitors(
  db: Db,
  { workspaceId, email, ascending, page: { after, size } }: VisitorListing,
): Promise<SizedVisitorRow[]> {
  const direction = sql.raw(ascending ? "asc" : "desc");
  const beyond =
    after === undefined
      ? sql.raw("")
      : sql`and (v.created_at, v.id) ${sql.raw(ascending ? ">" : "<")} (${after.key}, ${after.id}::uuid)`;
  const found = sql`select v.* from visitors v
    where ${matching(workspaceId, email)} ${beyond}
    order by v.created_at ${direction}, v.id ${direction} limit ${size + 1}`;
  const order = sql`page.created_at ${direction}, page.id ${direction}`;
  const { rows } = await sql<SizedVisitorRow>`
    with page as materialized (${withinAnswer(found, { bytes: attributeBytes, order })})
    select ${visitorColumns} from page v order by v.place`.execute(db);
  return rows;
}

export async function countVisitors(db: Db, workspaceId: string, email: string | undefined): Promise<number> {
  const { rows } = await sql<{ total: bigint }>`select count(*) as total from visitors v
    where ${matching(workspaceId, email)}`.execute(db);
  return Number(onlyRow(rows).total);
}

function matching(workspaceId: string, email: string | undefined): RawBuilder<unknown> {
  const ofWorkspace = sql`v.workspace_id = ${workspaceId}`;
  return email === undefined ? ofWorkspace : sql`${ofWorkspace} and v.email = ${email}`;
}

/** Visitors in the order given, one more than the page has at most, as far as they fit into an answer. */
export async function readRanked(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
  size: number,
): Promise<SizedVisitorRow[]> {
  const found = sql`select v.*, given.turn
    from unnest(${ids}::uuid[]) with ordinality as given (id, turn)
    join visitors v on v.workspace_id = ${workspaceId} and v.id = given.id
    order by given.turn limit ${size + 1}`;
  const { rows } = await sql<SizedVisitorRow>`
    with page as materialized (${withinAnswer(found, { bytes: attributeBytes, order: sql.raw("page.turn") })})
    select ${visitorColumns} from page v order by v.place`.execute(db);
  return rows;
}

/** Whether the workspace has a link that is neither deleted nor expired. */
export async function linkExists(db: Db, workspaceId: string, linkId: string): Promise<boolean> {
  const { rows } = await sql`select from living_links
    where workspace_id = ${workspaceId} and id = ${linkId}`.execute(db);
  return rows.length > 0;
}

export async function findTimezone(db: Db, workspaceId: string): Promise<string> {
  const row = await db
    .selectFrom("workspaces")
    .select("timezone")
    .where("id", "=", workspaceId)
    .executeTakeFirst();
  return row?.timezone ?? "";
}

/** How many objects of one kind a visitor embeds at most. */
const embeddedMax = 100;

/** The devices of visitors, last used first. */
export function findVisitorDevices(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<Embedded<DeviceRow>> {
  return readEmbedded(db, ids, {
    bytes: sql`octet_length(record.user_agent)`,
    source: sql`select * from devices where workspace_id = ${workspaceId} and visitor_id = asked.id
      order by last_used_at desc, id desc limit ${embeddedMax}`,
    order: sql`last_used_at desc, id desc`,
  });
}

export interface VisitorEventRow {
  readonly visitor_id: string;
  readonly id: string;
  readonly link_id: string;
  readonly action: "SCAN" | "CLICK";
  readonly visit_type: "FIRST" | "RETURNING";
  readonly created_at: Date;
}

/** The events of visitors, newest first. Leaves out those from before `since`. */
export function findEvents(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
  since: Date | undefined,
): Promise<Embedded<VisitorEventRow>> {
  const isShown =
    since === undefined
      ? sql.raw("true")
      : sql`created_at >= ${since} and id >= ${uuidFromTime(since)}::uuid`;
  return readEmbedded(db, ids, {
    bytes: sql`0`,
    source: sql`select visitor_id, id, link_id, action, visit_type, created_at from events
      where workspace_id = ${workspaceId} and visitor_id = asked.id and locked_number is null and ${isShown}
      order by id desc limit ${embeddedMax}`,
    order: sql`id desc`,
  });
}

export interface VisitedLinkRow {
  readonly visitor_id: string;
  readonly id: string;
  readonly name: string;
  readonly shortlink: string;
  readonly domain_name: string | null;
  readonly event_count: bigint;
  readonly first_visited_at: Date;
  readonly last_visited_at: Date;
}

/** The links that visitors have visited and the workspace still has, last visited first. */
export function findVisitedLinks(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<Embedded<VisitedLinkRow>> {
  return readEmbedded(db, ids, {
    bytes: sql`octet_length(record.name)`,
    source: sql`select vl.visitor_id, l.id, l.name, l.shortlink, d.name as domain_name, vl.event_count, vl.first_visited_at,
        vl.last_visited_at
      from visitor_links vl
      join living_links l on l.workspace_id = vl.workspace_id and l.id = vl.link_id
      left join custom_domains d on d.workspace_id = l.workspace_id and d.id = l.custom_domain_id
      where vl.workspace_id = ${workspaceId} and vl.visitor_id = asked.id
      order by vl.last_visited_at desc, l.id desc limit ${embeddedMax}`,
    order: sql`last_visited_at desc, id desc`,
  });
}

export interface AttributeKeyRow {
  readonly key: string;
  readonly type: AttributeRow["type"];
}

/**
 * The keys that visitors have values for, each with the type that most of its values have: first the reserved keys, in
 * the order of their names. Undefined when there is no such link.
 */
export async function listAttributeKeys(
  db: Db,
  workspaceId: string,
  linkId: string | undefined,
): Promise<AttributeKeyRow[] | undefined> {
  const chosen =
    linkId === undefined
      ? sql`select * from visitors where workspace_id = ${workspaceId}`
      : sql`select v.* from visitors v join visitor_links vl on vl.workspace_id = v.workspace_id
          and vl.visitor_id = v.id where v.workspace_id = ${workspaceId} and vl.link_id = ${linkId}`;
  const { rows } = await sql<AttributeKeyRow | { key: null }>`
    with chosen as (${chosen}),
    found as (
      select true as is_reserved, key, 'STRING'::visitor_attribute_type as type, 1 as uses
      from (select bool_or(email is not null) as email, bool_or(phone is not null) as phone,
          bool_or(coalesce(first_name, '') <> '') as first_name, bool_or(coalesce(last_name, '') <> '') as last_name
        from chosen) as has,
        lateral (values ('$email', email), ('$firstName', first_name), ('$lastName', last_name), ('$phone', phone))
          as reserved (key, is_used)
      where is_used
      union all
      select false, a.key, a.type, count(*) from visitor_attributes a
      where a.workspace_id = ${workspaceId} and (${linkId === undefined} or a.visitor_id in (select id from chosen))
      group by a.key, a.type),
    keys as (select distinct on (is_reserved, key collate "C") is_reserved, key, type from found
      order by is_reserved, key collate "C", uses desc, type)
    select keys.key, keys.type from (select exists (select from living_links
        where workspace_id = ${workspaceId} and id = ${linkId ?? null}::uuid) as link) as is_there
      left join keys on true
    where ${linkId === undefined} or is_there.link
    order by keys.is_reserved desc, keys.key collate "C"`.execute(db);
  if (rows.length === 0) return undefined;
  return rows.filter((row): row is AttributeKeyRow => row.key !== null);
}
