import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { JobRow } from "../resources/job.ts";

/** A job that is not finished, or was finished after `completedAfter`. */
export async function findJob(
  db: Db,
  workspaceId: string,
  id: string,
  completedAfter: Date,
): Promise<JobRow | undefined> {
  const { rows } = await sql<JobRow>`
    select id, type, status, item_count, link_ids, error_code, error_message, created_at, completed_at from jobs
    where workspace_id = ${workspaceId} and id = ${id}
      and (completed_at is null or completed_at > ${completedAfter})`.execute(db);
  return rows[0];
}
