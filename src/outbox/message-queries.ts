import { type Selectable, sql } from "kysely";
import type { Links } from "../../gen/database.ts";
import type { EventRow, TraceRow } from "../api/events/queries.ts";
import type { DeviceRow } from "../api/resources/device.ts";
import type { TagRow } from "../api/resources/tag.ts";
import type { VisitorRow } from "../api/resources/visitor.ts";
import { plainArray } from "../db/array-literal.ts";
import type { Db } from "../db/open.ts";

/*
 * The objects that messages tell of, for messages of any number of workspaces at once: of a thousand workspaces with a
 * message each, a statement for each would take a thousand times as long.
 */

/** A completed step. */
export interface StepKey {
  readonly workspaceId: string;
  readonly eventId: string;
  readonly stepId: string;
}

/** A record of a workspace. */
export interface RecordKey {
  readonly workspaceId: string;
  readonly id: string;
}

export type LinkRow = Pick<Selectable<Links>, "workspace_id" | "id" | "name" | "shortlink" | "metadata"> & {
  readonly domain_name: string | null;
  readonly tags: readonly TagRow[];
};

export async function readEvents(db: Db, keys: readonly RecordKey[]): Promise<readonly EventRow[]> {
  const { rows } = await sql<EventRow>`select e.* from ${given(keys)}
    join events e on e.workspace_id = given.workspace_id and e.id = given.id`.execute(db);
  return rows;
}

export async function readTraces(db: Db, keys: readonly StepKey[]): Promise<readonly TraceRow[]> {
  const { rows } = await sql<TraceRow>`select t.* from unnest(
      ${plainArray(keys.map(({ workspaceId }) => workspaceId))}::uuid[],
      ${plainArray(keys.map(({ eventId }) => eventId))}::uuid[],
      ${plainArray(keys.map(({ stepId }) => stepId))}::uuid[]) as given (workspace_id, event_id, step_id)
    cross join lateral (select * from visit_traces v where v.workspace_id = given.workspace_id
      and v.event_id = given.event_id and v.step_id = given.step_id) t`.execute(db);
  return rows;
}

export async function readDevices(db: Db, keys: readonly RecordKey[]): Promise<readonly DeviceRow[]> {
  const { rows } = await sql<DeviceRow>`select d.* from ${given(keys)}
    join devices d on d.workspace_id = given.workspace_id and d.id = given.id`.execute(db);
  return rows;
}

export async function readVisitors(db: Db, keys: readonly RecordKey[]): Promise<readonly VisitorRow[]> {
  const { rows } = await sql<VisitorRow>`select v.*,
      (select count(*) from devices d where d.workspace_id = v.workspace_id and d.visitor_id = v.id
        and d.device_actor not in ('BOT', 'AGENT')) as device_count,
      visited.link_count, visited.visit_count,
      (select coalesce(jsonb_agg(jsonb_build_object('key', a.key, 'type', a.type, 'value', a.value)
          order by a.key collate "C"), '[]')
        from visitor_attributes a where a.workspace_id = v.workspace_id and a.visitor_id = v.id) as attributes
    from ${given(keys)} join visitors v on v.workspace_id = given.workspace_id and v.id = given.id
    cross join lateral (
      select count(*) as link_count, coalesce(sum(event_count), 0)::bigint as visit_count from visitor_links vl
      where vl.workspace_id = v.workspace_id and vl.visitor_id = v.id) visited`.execute(db);
  return rows;
}

/** The links that their workspaces still have. */
export async function readLinks(db: Db, keys: readonly RecordKey[]): Promise<readonly LinkRow[]> {
  const { rows } = await sql<LinkRow>`select l.workspace_id, l.id, l.name, l.shortlink, l.metadata,
      d.name as domain_name,
      (select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name, 'name_key', t.name_key,
          'created_at', t.created_at, 'updated_at', t.updated_at) order by lt.position), '[]')
        from link_tags lt join tags t on t.workspace_id = lt.workspace_id and t.id = lt.tag_id
        where lt.workspace_id = l.workspace_id and lt.link_id = l.id) as tags
    from ${given(keys)} join living_links l on l.workspace_id = given.workspace_id and l.id = given.id
    left join custom_domains d on d.workspace_id = l.workspace_id and d.id = l.custom_domain_id`.execute(db);
  return rows;
}

function given(keys: readonly RecordKey[]) {
  return sql`unnest(${plainArray(keys.map(({ workspaceId }) => workspaceId))}::uuid[],
    ${plainArray(keys.map(({ id }) => id))}::uuid[]) as given (workspace_id, id)`;
}
