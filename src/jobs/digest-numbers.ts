import { sql } from "kysely";
import { onlyRow } from "../db/only-row.ts";
import type { Db } from "../db/open.ts";
import type { DigestPeriod } from "../model/digest-period.ts";
import type { MailFacts } from "../model/mail.ts";

type Numbers = Pick<MailFacts["digest"], "visits" | "links" | "visitors" | "mostVisited">;

const mostVisitedMax = 5;

/**
 * The numbers of a workspace's period, and of the one before. Visits are those of the roll-ups, so that a statement reads a row
 * for an hour of a link at most. They count by whole hours of UTC: where days begin at half past, the first and the last
 * half hour of the period are those of its neighbours.
 */
export async function digestNumbers(db: Db, workspaceId: string, period: DigestPeriod): Promise<Numbers> {
  const [visits, made, mostVisited] = [
    await countVisits(db, workspaceId, period),
    await countMade(db, workspaceId, period),
    await findMostVisited(db, workspaceId, period),
  ];
  return {
    visits: { now: Number(visits.now), before: Number(visits.before) },
    links: { now: Number(made.links), before: Number(made.linksBefore) },
    visitors: { now: Number(made.visitors), before: Number(made.visitorsBefore) },
    mostVisited: mostVisited.map(({ name, visits }) => ({ name, visits: Number(visits) })),
  };
}

/** Served by link_counters_pkey, which has every link that was ever visited, and for each by event_rollups_pkey. */
async function countVisits(db: Db, workspaceId: string, { before, from, to }: DigestPeriod) {
  const { rows } = await sql<{ now: bigint; before: bigint }>`
    select coalesce(sum(r.event_count) filter (where r.hour >= ${from}), 0)::bigint as now,
      coalesce(sum(r.event_count) filter (where r.hour < ${from}), 0)::bigint as before
    from link_counters c
    cross join lateral (select hour, event_count from event_rollups
      where workspace_id = c.workspace_id and link_id = c.link_id and dimension = 'events'
        and hour >= ${before} and hour < ${to}) r
    where c.workspace_id = ${workspaceId}`.execute(db);
  return onlyRow(rows);
}

/** Links that were made and not deleted since, and new visitors. Served by links_created_at_idx and visitors_page_idx. */
async function countMade(db: Db, workspaceId: string, { before, from, to }: DigestPeriod) {
  const { rows } = await sql<{
    links: bigint;
    linksBefore: bigint;
    visitors: bigint;
    visitorsBefore: bigint;
  }>`
    select l.made as links, l.before as "linksBefore", v.made as visitors, v.before as "visitorsBefore"
    from (select count(*) filter (where created_at >= ${from}) as made,
        count(*) filter (where created_at < ${from}) as before
      from links where workspace_id = ${workspaceId} and deleted_at is null
        and created_at >= ${before} and created_at < ${to}) l,
      (select count(*) filter (where created_at >= ${from}) as made,
        count(*) filter (where created_at < ${from}) as before
      from visitors where workspace_id = ${workspaceId} and created_at >= ${before} and created_at < ${to}) v`.execute(
    db,
  );
  return onlyRow(rows);
}

async function findMostVisited(db: Db, workspaceId: string, { from, to }: DigestPeriod) {
  const { rows } = await sql<{ name: string; visits: bigint }>`
    select coalesce(nullif(l.name, ''), l.shortlink) as name, r.visits
    from link_counters c
    cross join lateral (select sum(event_count)::bigint as visits from event_rollups
      where workspace_id = c.workspace_id and link_id = c.link_id and dimension = 'events'
        and hour >= ${from} and hour < ${to}) r
    join living_links l on l.workspace_id = c.workspace_id and l.id = c.link_id
    where c.workspace_id = ${workspaceId} and r.visits > 0
    order by r.visits desc, l.id limit ${mostVisitedMax}`.execute(db);
  return rows;
}
