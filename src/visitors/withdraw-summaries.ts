import { sql } from "kysely";
import type { Db } from "../db/open.ts";

/**
 * Deletes the texts of dashboards that ask for the values of visitors, because a text names the most frequent ones. Part
 * of each transaction that deletes a value. Only dashboards with texts are looked at.
 */
export async function withdrawSummaries(tx: Db, workspaceId: string): Promise<void> {
  await sql`delete from widget_summaries s using dashboards d
    where s.workspace_id = ${workspaceId} and d.workspace_id = ${workspaceId} and d.id = s.dashboard_id
      and d.config like '%/v1/analytics/attributes/%'`.execute(tx);
}
