import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { jobKeptMs } from "../model/jobs.ts";

/** Deletes the outcomes of jobs that nobody can read any more. */
export async function deleteOldJobs(db: Db, now: Date): Promise<void> {
  const completedBefore = new Date(now.getTime() - jobKeptMs);
  await sql`delete from jobs where completed_at < ${completedBefore}`.execute(db);
}
