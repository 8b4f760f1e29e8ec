import { sql } from "kysely";
import type { Db } from "../db/open.ts";

/**
 * Deletes the texts of dashboards that ask for the values of visitors, because a text names the most frequent ones. Part
 * of each transaction that deletes a value. Only dashboards with texts are looked at. Texts that are being written are not stored.
 */
export async function withdrawSummaries(tx: Db, workspaceId: string): Promise<void> {
  // First: whoever stores a text waits for this row, or is waited for.
  await sql`insert into withdrawn_values (workspace_id, withdrawn_at) values (${workspaceId}, clock_timestamp())
    on conflict on constraint withdrawn_values_pkey do update set withdrawn_at = excluded.withdrawn_at`.execute(
    tx,
  );
  await sql`delete from widget_summaries s using dashboards d
    where s.workspace_id = ${workspaceId} and d.workspace_id = ${workspaceId} and d.id = s.dashboard_id
      and d.config like '%/v1/analytics/attributes/%'`.execute(tx);
}

/** Answers may be so old, and a deletion may take as long before others see it, in milliseconds. */
const behindMs = 120_000;

/** True when values that were asked for `agoMs` milliseconds ago may be deleted by now. Deletions wait for the transaction. */
export async function valuesWithdrawn(tx: Db, workspaceId: string, agoMs: number): Promise<boolean> {
  const { rows } = await sql<{ withdrawn: boolean }>`
    insert into withdrawn_values as known (workspace_id, withdrawn_at) values (${workspaceId}, '-infinity')
    on conflict on constraint withdrawn_values_pkey do update set withdrawn_at = known.withdrawn_at
    returning withdrawn_at > clock_timestamp() - ${(agoMs + behindMs) / 1_000} * interval '1 second' as withdrawn`.execute(
    tx,
  );
  return rows[0]?.withdrawn ?? true;
}
