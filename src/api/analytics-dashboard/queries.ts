import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Dashboards } from "../../../gen/database.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import { withinAnswer } from "../../db/within-answer.ts";
import type { Page } from "../../lib/paging/page.ts";

export type DashboardRow = Selectable<Dashboards>;

export const dashboardColumns = sql.raw("workspace_id, id, link_id, name, config, created_at, updated_at");

/** Which dashboards a list has. */
export interface DashboardFilter {
  readonly workspaceId: string;
  /** Only those of this link. */
  readonly linkId: string | undefined;
  /** Whether the list has dashboards of links, only those, or none. */
  readonly ofLinks: "any" | "only" | "none";
}

/** A dashboard is there as long as its link: a link that has expired may not have been taken out yet. */
const isThere = sql.raw(`(d.link_id is null or exists (
  select from living_links l where l.workspace_id = d.workspace_id and l.id = d.link_id))`);

export async function findDashboard(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<DashboardRow | undefined> {
  const { rows } = await sql<DashboardRow>`select ${dashboardColumns} from dashboards d
    where d.workspace_id = ${workspaceId} and d.id = ${id} and ${isThere}`.execute(db);
  return rows[0];
}

/** The same for a change: nobody else changes the dashboard until the transaction ends. */
export async function lockDashboard(
  tx: Db,
  workspaceId: string,
  id: string,
): Promise<DashboardRow | undefined> {
  const { rows } = await sql<DashboardRow>`select ${dashboardColumns} from dashboards d
    where d.workspace_id = ${workspaceId} and d.id = ${id} and ${isThere} for update of d`.execute(tx);
  return rows[0];
}

/** One page and one more row, newest first, as many as fit an answer. Served by dashboards_page_idx. */
export async function listDashboards(
  db: Db,
  filter: DashboardFilter,
  { size, after }: Page<"time">,
): Promise<(DashboardRow & { readonly bytes: number })[]> {
  const beyond = after ? sql`and (d.created_at, d.id) < (${after.key}, ${after.id}::uuid)` : sql.raw("");
  const page = sql`select ${dashboardColumns} from dashboards d where ${matching(filter)} ${beyond}
    order by d.created_at desc, d.id desc limit ${size + 1}`;
  const bytes = sql.raw("octet_length(page.name) + octet_length(page.config::text)");
  const order = sql.raw("page.created_at desc, page.id desc");
  const statement = sql<DashboardRow & { bytes: number }>`${withinAnswer(page, { bytes, order })}`;
  return (await statement.execute(db)).rows;
}

export interface DashboardTotals {
  readonly total: bigint;
  /** Whether the link of the filter belongs to the workspace. */
  readonly hasLink: boolean;
}

export async function countDashboards(db: Db, filter: DashboardFilter): Promise<DashboardTotals> {
  const { workspaceId, linkId = null } = filter;
  const { rows } = await sql<DashboardTotals>`select
    (select count(*) from dashboards d where ${matching(filter)}) as total,
    exists (select from living_links where workspace_id = ${workspaceId} and id = ${linkId}::uuid)
      as "hasLink"`.execute(db);
  return onlyRow(rows);
}

function matching({ workspaceId, linkId, ofLinks }: DashboardFilter): RawBuilder<unknown> {
  const conditions = [sql`d.workspace_id = ${workspaceId}`, isThere];
  if (linkId !== undefined) conditions.push(sql`d.link_id = ${linkId}::uuid`);
  else if (ofLinks !== "any")
    conditions.push(sql.raw(ofLinks === "only" ? "d.link_id is not null" : "d.link_id is null"));
  return sql.join(conditions, sql.raw(" and "));
}
