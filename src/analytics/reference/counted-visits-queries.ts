import { type RawBuilder, sql } from "kysely";
import { uuidFromTime } from "../../lib/ids.ts";
import type { Scope } from "../question.ts";

type Sql = RawBuilder<unknown>;

/** Which events `e` count as visits. No other place of the analytics says so. */
export const counts = "e.counted and e.locked_number is null";

/** The counted visits of a scope with what they are grouped by. A device that is gone, or was never known, is unknown. */
export function countedVisits(scope: Scope): Sql {
  return sql`
    select e.id, e.link_id, e.visitor_id, coalesce(e.visitor_id, e.device_id) as person, e.created_at, e.outcome,
      e.lead_score, e.visit_type::text as visit_type, coalesce(d.device_type, 'UNKNOWN')::text as device_type,
      coalesce(d.country, '') collate "C" as country, coalesce(d.city, '') collate "C" as city,
      coalesce(d.browser_name, '') collate "C" as browser, coalesce(d.platform_name, '') collate "C" as platform
    from events e left join devices d on d.workspace_id = e.workspace_id and d.id = e.device_id
    where ${sql.raw(counts)} and ${inScope(scope)}`;
}

function inScope({ workspaceId, linkId, tagKey, from, to }: Scope): Sql {
  const conditions = [sql`e.workspace_id = ${workspaceId}`];
  if (linkId !== undefined) conditions.push(sql`e.link_id = ${linkId}`);
  if (tagKey !== undefined)
    conditions.push(sql`e.link_id in (select lt.link_id from link_tags lt
      join tags t on t.workspace_id = lt.workspace_id and t.id = lt.tag_id
      where lt.workspace_id = ${workspaceId} and t.name_key = ${tagKey})`);
  // The bounds on ids leave out partitions of months that cannot match, because an id begins with the millisecond of
  // its event.
  if (from !== undefined)
    conditions.push(sql`e.created_at >= ${from} and e.id >= ${idBound(from.getTime())}::uuid`);
  if (to !== undefined)
    conditions.push(sql`e.created_at <= ${to} and e.id < ${idBound(to.getTime() + 1)}::uuid`);
  return sql.join(conditions, sql.raw(" and "));
}

// Ids hold no time before 1970.
function idBound(ms: number): string {
  return uuidFromTime(new Date(Math.max(0, ms)));
}

/** The bounds of a scope on the ids of events in `column`, for tables whose rows have the event's id. */
export function idsInScope({ from, to }: Scope, column: Sql): Sql {
  const least = idBound(from?.getTime() ?? 0);
  return to === undefined
    ? sql`${column} >= ${least}::uuid`
    : sql`${column} >= ${least}::uuid and ${column} < ${idBound(to.getTime() + 1)}::uuid`;
}

/** The number of the interval in which a moment lies, from 1. */
export function intervalOf(moment: Sql, starts: readonly Date[]): Sql {
  return sql`width_bucket(${moment}, ${starts}::timestamptz[])`;
}
