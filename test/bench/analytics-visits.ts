import type pg from "pg";

/** Visits of one workspace. The same seed makes the same visits, whatever else is in the database. */
export interface MadeVisits {
  readonly workspaceId: string;
  readonly seed: number;
  readonly visits: number;
  /** The end of the days that have visits. */
  readonly until: Date;
}

export const days = 400;

/** How many links a workspace has. */
export const linksEach = 238;

/** Growth: of 400 days, the last 30 have two fifths of all visits. */
const growth = 6.77;

/** Shares of the visits of all workspaces, most first: a Zipf distribution in which the first of 50 has two fifths. */
export function sharesOf(workspaces: number): number[] {
  const weights = Array.from({ length: workspaces }, (_, index) => (index + 1) ** -1.45);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** A number from 0 to below 1 that is the same for each run, for row `i` of a series. Floats are much faster than numerics. */
const random = (stream: number) =>
  `((hashint8extended(i, $2::bigint * 100 + ${stream}) & 2147483647) / 2147483648::float8)`;

const idOf = (kind: string, number: string) => `md5($1 || '${kind}' || (${number}))::uuid`;

/**
 * Makes links, devices, visitors and events of a workspace, in the order of time, with SQL that reads nothing but numbers.
 * Links have a Zipf distribution, hours a peak in the afternoon, and weekends fewer visits.
 */
export async function makeVisits(client: pg.Client, made: MadeVisits): Promise<void> {
  const { workspaceId, seed, visits, until } = made;
  const people = Math.ceil(visits / 1.6);
  const run = (text: string, ...more: readonly unknown[]) => client.query(text, [workspaceId, seed, ...more]);
  await run(
    `insert into links (workspace_id, id, name, shortlink, qrcode_design_id, created_at, updated_at)
    select $1::uuid, ${idOf("link", "i")}, 'Link ' || i, 'made-' || $2::bigint || '-' || i, gen_random_uuid(), $4, $4
    from generate_series(1, $3::bigint) as i`,
    linksEach,
    until,
  );
  await run(
    `insert into devices (workspace_id, id, device_type, device_actor, country, city, browser_name, platform_name,
      last_used_at, created_at, updated_at)
    select $1::uuid, ${idOf("device", "i")}, (array['MOBILE', 'MOBILE', 'MOBILE', 'DESKTOP', 'TABLET', 'UNKNOWN'])[
        1 + floor(${random(1)} * 6)::int]::device_type, 'HUMAN',
      (array['DE', 'US', 'FR', 'GB', 'AT', 'CH', 'ES', 'IT', 'NL', 'PL', 'SE', 'JP', 'BR', 'IN', 'CA', 'AU'])[
        floor(power(17, ${random(2)}))::int], 'City ' || floor(power(400, ${random(3)}))::int,
      (array['Chrome', 'Safari', 'Firefox', 'Edge', 'Samsung Internet', ''])[floor(power(7, ${random(4)}))::int],
      (array['Android', 'iOS', 'Windows', 'macOS', ''])[floor(power(6, ${random(5)}))::int], $4, $4, $4
    from generate_series(0, $3::bigint - 1) as i`,
    people,
    until,
  );
  // One visitor in twenty has two devices, and one device in ten no visitor.
  await run(
    `insert into visitors (workspace_id, id, created_at, updated_at)
    select $1::uuid, ${idOf("visitor", "i")}, $4, $4 from generate_series(0, $3::bigint - 1) as i
    where i % 20 <> 19 and i % 10 <> 0 and $2::bigint is not null`,
    people,
    until,
  );
  await run(eventsSql, visits, until, people);
}

const dayMs = 86_400_000;

/** Of the visits that would fall on a weekend, half come on the Thursday or Friday before. */
const eventsSql = `
  insert into events (workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted, uncounted_reason,
    entrypoint, destination, destination_action, steps_total, steps_reached, outcome, entry_step_id, last_step_id,
    exit_tracking, lead_score, ended_at, created_at, updated_at)
  select $1::uuid, (lpad(to_hex(ms), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid,
    ${idOf("link", `floor(power(${linksEach + 1}, ${random(11)}))::int`)}, ${idOf("device", "device")},
    case when device % 10 <> 0 then ${idOf("visitor", "device - (device % 20 = 19)::int")} end,
    case when ${random(12)} < 0.6 then 'SCAN' else 'CLICK' end::action,
    case when ${random(13)} < 0.6 then 'FIRST' else 'RETURNING' end::visit_type, counted,
    case when not counted then 'CRAWLER' end::uncounted_reason, 'https://short.test/made', 'https://example.com/menu',
    'CLIENT_REDIRECT', 2, 2, 'COMPLETED', ${idOf("entry", "1")}, ${idOf("exit", "1")}, false,
    case when ${random(14)} < 0.3 then floor(${random(15)} * 101) end::smallint, at, at, at
  from (
    select *, to_timestamp(ms / 1000.0) as at from (
      select i, md5($1 || 'event' || i) as hash, ${random(16)} < 0.95 as counted,
        floor(power(${random(17)}, 1.6) * $5::bigint)::bigint as device,
        (extract(epoch from $4::timestamptz) * 1000)::bigint - ${days * dayMs}::bigint
          + ((day - case when weekend and ${random(18)} < 0.5 then 2 else 0 end) * ${dayMs})::bigint
          + floor(((${random(19)} + ${random(20)}) / 2 * 0.9 + 0.1) * ${dayMs})::bigint as ms
      from generate_series(1, $3::bigint) as i cross join lateral (
        select 2 + floor(power(${random(21)}, ${1 / growth}) * ${days - 2}) as day) as given
      cross join lateral (
        select extract(isodow from $4::timestamptz - make_interval(days => ${days} - day::int)) > 5 as weekend) as on_day
    ) as timed) as made
  order by ms`;
