import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type {
  Hours,
  Intervals,
  Leading,
  Summary,
  VisitorCounts,
  VisitorNumbers,
  Visitors,
  Whole,
} from "../question.ts";
import { countedVisits, intervalOf } from "./counted-visits-queries.ts";
import { spread } from "./groups-queries.ts";

interface Point {
  readonly place: number;
  readonly count: number;
}

export async function intervals(db: Db, { scope, starts }: Intervals): Promise<readonly number[]> {
  const { rows } = await sql<Point>`
    with visits as (${countedVisits(scope)})
    select ${intervalOf(sql.raw("created_at"), starts)} as place, count(*)::int as count
    from visits group by 1`.execute(db);
  return spread(rows, starts.length);
}

export async function hours(db: Db, { scope, clock }: Hours): Promise<readonly number[]> {
  const { rows } = await sql<Point>`
    with visits as (${countedVisits(scope)})
    select ${hourOf(sql.raw("created_at"), clock)} + 1 as place, count(*)::int as count from visits group by 1`.execute(
    db,
  );
  return spread(rows, 24);
}

/** The hour of the day in which a moment lies, from 0. */
export function hourOf(moment: RawBuilder<unknown>, clock: Hours["clock"]): RawBuilder<unknown> {
  const sinces = clock.map(({ since }) => since);
  const offsets = clock.map(({ offsetMs }) => offsetMs / 1000);
  return sql`extract(hour from ${moment} at time zone 'UTC' + make_interval(secs =>
    (${offsets}::float8[])[${intervalOf(moment, sinces)}]))::int`;
}

interface VisitorRow extends VisitorNumbers {
  /** Null in the row of the whole range. */
  readonly place: number | null;
}

export async function visitors(db: Db, { scope, starts }: Visitors): Promise<VisitorCounts> {
  const { rows } = await sql<VisitorRow>`
    with visits as materialized (${countedVisits({ ...scope, from: undefined })}),
    people as (select person, min(created_at) as first_at from visits group by person),
    seen as (
      select person, ${intervalOf(sql.raw("created_at"), starts)} as place from visits
      where created_at >= ${scope.from ?? new Date(0)} group by 1, 2),
    judged as (
      select s.person, s.place, p.first_at >= ${scope.from ?? new Date(0)} as came,
        p.first_at >= ${scope.from ?? new Date(0)} and ${intervalOf(sql.raw("p.first_at"), starts)} = s.place as is_new
      from seen s join people p using (person))
    select place, count(*) filter (where is_new)::int as fresh, count(*) filter (where not is_new)::int as returning
    from judged group by place
    union all
    select null, count(distinct person) filter (where came)::int, count(distinct person) filter (where not came)::int
    from judged`.execute(db);
  const byPlace = new Map(rows.map(({ place, ...numbers }) => [place, numbers]));
  const { fresh, returning } = byPlace.get(null) ?? nobody;
  return { fresh, returning, intervals: starts.map((_, index) => byPlace.get(index + 1) ?? nobody) };
}

const nobody: VisitorNumbers = { fresh: 0, returning: 0 };

interface SummaryRow {
  readonly total: number;
  readonly first_at: Date | null;
  readonly last_at: Date | null;
  readonly scored: number;
  readonly score_sum: number;
  readonly top_country: string | null;
  readonly countries: number;
  readonly top_city: string | null;
  readonly cities: number;
  readonly top_device_type: string | null;
  readonly device_types: number;
}

export async function summary(db: Db, { scope }: Whole): Promise<Summary> {
  const { rows } = await sql<SummaryRow>`
    with visits as materialized (${countedVisits(scope)})
    select count(*)::int as total, min(created_at) as first_at, max(created_at) as last_at,
      count(lead_score)::int as scored, coalesce(sum(lead_score), 0)::float8 as score_sum,
      (select country from visits where country <> '' group by country
        order by count(*) desc, max(created_at) desc, max(id::text collate "C") desc limit 1) as top_country,
      count(distinct nullif(country, ''))::int as countries,
      (select city from visits where city <> '' group by city
        order by count(*) desc, max(created_at) desc, max(id::text collate "C") desc limit 1) as top_city,
      count(distinct nullif(city, ''))::int as cities,
      (select device_type from visits group by device_type
        order by count(*) desc, max(created_at) desc, max(id::text collate "C") desc limit 1) as top_device_type,
      count(distinct device_type)::int as device_types
    from visits`.execute(db);
  const [row] = rows;
  const leading = (top: string | null | undefined, values: number | undefined): Leading => {
    return { top: top ?? "", values: values ?? 0 };
  };
  return {
    total: row?.total ?? 0,
    firstAt: row?.first_at ?? undefined,
    lastAt: row?.last_at ?? undefined,
    scored: row?.scored ?? 0,
    scoreSum: row?.score_sum ?? 0,
    country: leading(row?.top_country, row?.countries),
    city: leading(row?.top_city, row?.cities),
    deviceType: leading(row?.top_device_type, row?.device_types),
  };
}
