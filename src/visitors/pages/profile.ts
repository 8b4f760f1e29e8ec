import type { Selectable } from "kysely";
import { type RawBuilder, sql } from "kysely";
import type { Visitors } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import type { StoredAttribute } from "../../model/visitors/attribute-operators.ts";
import type { AttributeType } from "../../model/workflow/attribute-capture.ts";
import { reservedColumns } from "../visitor-attributes.ts";

/** What lists know of a visitor when they choose whom to show. */
export interface Profile {
  readonly id: string;
  readonly createdMs: number;
  /** By key; identity and names under their reserved keys. */
  readonly attributes: ReadonlyMap<string, StoredAttribute>;
  /** The links that the visitor has visited. */
  readonly links: readonly string[];
  readonly visitCount: number;
  readonly deviceCount: number;
}

/** The limits of one read. A visitor whose own bytes are more is read alone. */
export interface ReadLimits {
  readonly visitors: number;
  readonly bytes: number;
}

interface ProfileRow
  extends Pick<Selectable<Visitors>, "id" | "email" | "phone" | "first_name" | "last_name"> {
  readonly created_ms: number;
  readonly attributes: readonly (readonly [key: string, type: AttributeType, value: string])[];
  readonly links: readonly string[];
  readonly visit_count: number;
  readonly device_count: number;
}

/** Reads the first visitors `v` who match, in the order of their ids. */
export async function readProfiles(
  db: Db,
  workspaceId: string,
  matching: RawBuilder<unknown>,
  { visitors, bytes }: ReadLimits,
): Promise<Profile[]> {
  const { rows } = await sql<ProfileRow>`
    with found as materialized (
      select v.*, (select coalesce(sum(octet_length(a.key) + octet_length(a.value)), 0) from visitor_attributes a
          where a.workspace_id = v.workspace_id and a.visitor_id = v.id)
        + (select 16 * count(*) from visitor_links l where l.workspace_id = v.workspace_id and l.visitor_id = v.id) as bytes
      from visitors v where v.workspace_id = ${workspaceId} and ${matching} order by v.id limit ${visitors}),
    fitting as (
      select * from (select found.*, row_number() over listed as place, sum(bytes) over listed as bytes_through
        from found window listed as (order by id rows unbounded preceding)) as found
      where place = 1 or bytes_through <= ${bytes})
    select v.id, date_part('epoch', v.created_at) * 1000 as created_ms, v.email, v.phone, v.first_name, v.last_name,
      (select coalesce(jsonb_agg(jsonb_build_array(a.key, a.type, a.value)), '[]') from visitor_attributes a
        where a.workspace_id = v.workspace_id and a.visitor_id = v.id) as attributes,
      coalesce(l.links, '[]') as links, coalesce(l.visits, 0)::float8 as visit_count,
      (select count(*) from devices d where d.workspace_id = v.workspace_id and d.visitor_id = v.id
        and d.device_actor not in ('BOT', 'AGENT'))::int as device_count
    from fitting v, lateral (select jsonb_agg(l.link_id) as links, sum(l.event_count) as visits from visitor_links l
      where l.workspace_id = v.workspace_id and l.visitor_id = v.id) as l
    order by v.id`.execute(db);
  return rows.map(toProfile);
}

function toProfile(row: ProfileRow): Profile {
  const attributes = new Map<string, StoredAttribute>();
  for (const [key, column] of Object.entries(reservedColumns)) {
    const value = row[column];
    if (value !== null) attributes.set(key, { value, type: "STRING" });
  }
  for (const [key, type, value] of row.attributes) attributes.set(key, { value, type });
  return {
    id: row.id,
    createdMs: Math.round(row.created_ms),
    attributes,
    links: row.links,
    visitCount: row.visit_count,
    deviceCount: row.device_count,
  };
}

/**
 * What a search looks through: names as they are written, addresses, numbers and attributes, folded, with a character
 * behind each that no text contains.
 */
export function searchedText({ attributes }: Profile): string {
  const nameParts = ["$firstName", "$lastName"].flatMap((key) => attributes.get(key)?.value ?? []);
  const texts = [nameParts.join(" ")];
  for (const [key, { value }] of attributes) if (!nameKeys.has(key)) texts.push(value);
  return folded(`${texts.join("\0")}\0`);
}

const nameKeys: ReadonlySet<string> = new Set(["$firstName", "$lastName"]);

/** The text without differences of case: what a search compares. */
export function folded(text: string): string {
  // The small sigma at the end of a word is the same letter as elsewhere.
  return text.toLowerCase().replaceAll("ς", "σ");
}
