import { type Selectable, sql } from "kysely";
import type { Jobs } from "../../../gen/database.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import type { Deps } from "../deps.ts";
import type { JobRow } from "../resources/job.ts";

/** What says which job is meant. */
export interface JobPlace {
  readonly workspaceId: string;
  readonly jobId: string;
}

/** Keeps a request and queues its job, in one statement. */
export async function insertJob(
  db: Db,
  jobCall: Deps["jobCall"],
  job: JobPlace & { readonly itemCount: number; readonly request: Buffer; readonly at: Date },
): Promise<JobRow> {
  const { workspaceId, jobId, itemCount, request, at } = job;
  const place = { workspaceId: sql.ref("made.workspace_id"), jobId: sql.ref("made.id") };
  const { rows } = await sql<JobRow>`
    with made as (
        insert into jobs (workspace_id, id, type, status, item_count, request, created_at)
        values (${workspaceId}, ${jobId}, 'LINKS_BULK_CREATE', 'PENDING', ${itemCount}, ${request}, ${at})
        returning *),
      queued as (select ${jobCall("create-links", place)} from made)
    select id, type, status, item_count, link_ids, error_code, error_message, created_at, completed_at from made
    where (select count(*) from queued) > 0`.execute(db);
  return onlyRow(rows);
}

/** Begins a run of a job and counts it. Undefined when the job is finished or gone. */
export async function beginJob(
  db: Db,
  { workspaceId, jobId }: JobPlace,
): Promise<Pick<Selectable<Jobs>, "request" | "runs"> | undefined> {
  const { rows } = await sql<Pick<Selectable<Jobs>, "request" | "runs">>`
    update jobs set status = 'RUNNING', runs = runs + 1
    where workspace_id = ${workspaceId} and id = ${jobId} and completed_at is null
    returning request, runs`.execute(db);
  return rows[0];
}

/** Locks a job until the transaction ends. False when another run has finished it. */
export async function lockJob(tx: Db, { workspaceId, jobId }: JobPlace): Promise<boolean> {
  const { rows } = await sql`select from jobs
    where workspace_id = ${workspaceId} and id = ${jobId} and completed_at is null for update`.execute(tx);
  return rows.length > 0;
}

/** The end of a job: the links that it made, or why it made none. */
export type JobEnd =
  | { readonly linkIds: readonly string[] }
  | { readonly reason: string; readonly message: string };

/** Writes the end of a job that has none, and forgets its request. */
export async function endJob(db: Db, { workspaceId, jobId }: JobPlace, at: Date, end: JobEnd): Promise<void> {
  const failed = "reason" in end ? end : { reason: "", message: "" };
  await sql`update jobs set status = ${"reason" in end ? "FAILED" : "SUCCEEDED"}, request = null, completed_at = ${at},
      link_ids = ${"linkIds" in end ? end.linkIds : []}::uuid[],
      error_code = ${failed.reason}, error_message = ${failed.message}
    where workspace_id = ${workspaceId} and id = ${jobId} and completed_at is null`.execute(db);
}
