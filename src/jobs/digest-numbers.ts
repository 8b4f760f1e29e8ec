import { sql } from "kysely";
import type { Analytics } from "../analytics/driver.ts";
import { onlyRow } from "../db/only-row.ts";
import type { Db } from "../db/open.ts";
import type { DigestPeriod } from "../model/digest-period.ts";
import type { MailFacts } from "../model/mail.ts";

type Numbers = Pick<MailFacts["digest"], "visits" | "links" | "visitors" | "mostVisited">;

const mostVisitedMax = 5;

export interface DigestDeps {
  readonly db: Db;
  readonly analytics: Analytics;
}

/** The numbers of a workspace's period, and of the one before. */
export async function digestNumbers(
  deps: DigestDeps,
  workspaceId: string,
  period: DigestPeriod,
): Promise<Numbers> {
  const { db, analytics } = deps;
  const { before, from, to } = period;
  const last = new Date(to.getTime() - 1);
  const scope = { workspaceId, linkId: undefined, tagKey: undefined, from, to: last };
  const { answer: visits } = await analytics(db, "intervals", {
    scope: { ...scope, from: before },
    starts: [before, from],
  });
  const made = await countMade(db, workspaceId, period);
  const { answer: top } = await analytics(db, "topLinks", { scope, limit: mostVisitedMax });
  return {
    visits: { now: visits[1] ?? 0, before: visits[0] ?? 0 },
    links: { now: Number(made.links), before: Number(made.linksBefore) },
    visitors: { now: Number(made.visitors), before: Number(made.visitorsBefore) },
    mostVisited: top.links.map(({ name, shortlink, count }) => ({ name: name || shortlink, visits: count })),
  };
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
