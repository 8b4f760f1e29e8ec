import { sql } from "kysely";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import { type DashboardRow, dashboardColumns } from "./queries.ts";

/** Everything a dashboard consists of. */
export interface NewDashboard {
  readonly workspaceId: string;
  readonly id: string;
  /** Null for the dashboard of the workspace. */
  readonly linkId: string | null;
  readonly name: string;
  readonly config: string;
  readonly at: Date;
}

/**
 * Makes a dashboard. Undefined when there is no such link. Breaks `dashboards_pkey` when the id is taken, and
 * `dashboards_link_key` when the link or the workspace has a dashboard. The link stays as it is until the transaction ends, so
 * that its deletion finds the dashboard.
 */
export async function insertDashboard(tx: Db, dashboard: NewDashboard): Promise<DashboardRow | undefined> {
  const { workspaceId, id, linkId, name, config, at } = dashboard;
  if (linkId !== null) {
    const link = await sql`select from living_links where workspace_id = ${workspaceId} and id = ${linkId}
      for key share`.execute(tx);
    if (link.rows.length === 0) return undefined;
  }
  const { rows } = await sql<DashboardRow>`
    insert into dashboards (workspace_id, id, link_id, name, config, created_at, updated_at)
    values (${workspaceId}, ${id}, ${linkId}, ${name}, ${config}, ${at}, ${at})
    returning ${dashboardColumns}`.execute(tx);
  return onlyRow(rows);
}

/** The new values of a locked dashboard, and the widgets whose texts are about another question from now on. */
export interface DashboardChange {
  readonly name: string;
  readonly config: string;
  readonly changedWidgets: readonly string[];
  readonly at: Date;
}

export async function updateDashboard(
  tx: Db,
  { workspace_id, id }: DashboardRow,
  { name, config, changedWidgets, at }: DashboardChange,
): Promise<DashboardRow> {
  const { rows } = await sql<DashboardRow>`
    with outdated as (delete from widget_summaries
      where workspace_id = ${workspace_id} and dashboard_id = ${id} and widget_id = any(${changedWidgets}))
    update dashboards set name = ${name}, config = ${config}, updated_at = ${at}
    where workspace_id = ${workspace_id} and id = ${id} returning ${dashboardColumns}`.execute(tx);
  return onlyRow(rows);
}

/** Deletes a locked dashboard with the texts about its widgets, and what was said about it. */
export async function deleteDashboard(tx: Db, { workspace_id, id }: DashboardRow): Promise<void> {
  await sql`with summary as (delete from widget_summaries
      where workspace_id = ${workspace_id} and dashboard_id = ${id}),
      conversation as (delete from assistant_messages where workspace_id = ${workspace_id}
        and context_type = 'ANALYTICS_DASHBOARD' and context_id = ${id})
    delete from dashboards where workspace_id = ${workspace_id} and id = ${id}`.execute(tx);
}
