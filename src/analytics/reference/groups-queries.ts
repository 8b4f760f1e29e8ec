import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type {
  Dimension,
  GroupCounts,
  Groups,
  LinkCounts,
  Series,
  SeriesCounts,
  TopLinks,
} from "../question.ts";
import { countedVisits, intervalOf } from "./counted-visits-queries.ts";

/** The columns of visits by dimension. */
export const groupColumns = {
  browser: sql.raw("browser"),
  platform: sql.raw("platform"),
  deviceType: sql.raw("device_type"),
  country: sql.raw("country"),
  city: sql.raw("city"),
  visitType: sql.raw("visit_type"),
} as const satisfies Record<Dimension, unknown>;

const rank = sql.raw(`count desc, value = '', value collate "C"`);

interface GroupRow {
  readonly value: string;
  readonly count: number;
  readonly total: number;
}

export async function groups(db: Db, { scope, dimension, limit }: Groups): Promise<GroupCounts> {
  const { rows } = await sql<GroupRow>`
    with visits as (${countedVisits(scope)}),
    grouped as (select ${groupColumns[dimension]} as value, count(*) as count from visits group by 1)
    select value, count::int as count, (sum(count) over ())::int as total from grouped
    order by ${rank} limit ${limit}`.execute(db);
  return { total: rows[0]?.total ?? 0, groups: rows.map(({ value, count }) => ({ value, count })) };
}

interface SeriesRow extends GroupRow {
  readonly place: number;
}

export async function series(db: Db, question: Series): Promise<SeriesCounts> {
  const { scope, dimension, limit, starts } = question;
  const { rows } = await sql<SeriesRow>`
    with visits as (${countedVisits(scope)}),
    placed as materialized (
      select ${groupColumns[dimension]} as value, ${intervalOf(sql.raw("created_at"), starts)} as place, count(*) as count
      from visits group by 1, 2),
    grouped as (
      select value, sum(count) as count, sum(sum(count)) over () as total from placed group by value
      order by ${rank} limit ${limit})
    select g.value, p.place, p.count::int as count, g.total::int as total
    from grouped g join placed p using (value)
    order by g.count desc, g.value = '', g.value collate "C"`.execute(db);
  const byValue = Map.groupBy(rows, ({ value }) => value);
  return {
    total: rows[0]?.total ?? 0,
    series: [...byValue].map(([value, points]) => ({ value, counts: spread(points, starts.length) })),
  };
}

/** The counts of all intervals, of which `points` has those with visits. */
export function spread(
  points: readonly { readonly place: number; readonly count: number }[],
  length: number,
): number[] {
  const counts = new Array<number>(length).fill(0);
  for (const { place, count } of points) counts[place - 1] = count;
  return counts;
}

interface LinkRow {
  readonly name: string | null;
  readonly shortlink: string | null;
  readonly count: number;
  readonly total: number;
}

export async function topLinks(db: Db, { scope, limit }: TopLinks): Promise<LinkCounts> {
  const { rows } = await sql<LinkRow>`
    with visits as (${countedVisits(scope)}),
    grouped as (select link_id, count(*) as count from visits group by link_id)
    select l.name, l.shortlink, g.count::int as count, (sum(g.count) over ())::int as total
    from grouped g left join living_links l on l.workspace_id = ${scope.workspaceId} and l.id = g.link_id
    order by l.id is null, g.count desc, l.name collate "C", l.id limit ${limit}`.execute(db);
  const links = rows.flatMap(({ name, shortlink, count }) =>
    name === null || shortlink === null ? [] : [{ name, shortlink, count }],
  );
  return { total: rows[0]?.total ?? 0, links };
}
