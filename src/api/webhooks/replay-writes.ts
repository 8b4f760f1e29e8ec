import { type Selectable, sql } from "kysely";
import type { Jobs } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import type { Deps } from "../deps.ts";
import type { JobRow } from "../resources/job.ts";

export interface JobPlace {
  readonly workspaceId: string;
  readonly jobId: string;
}

/** Keeps a replay and queues its job. Undefined while another replay of the workspace is not finished. */
export async function insertReplay(
  tx: Db,
  jobCall: Deps["jobCall"],
  { workspaceId, jobId, request, at }: JobPlace & { readonly request: Buffer; readonly at: Date },
): Promise<JobRow | undefined> {
  const place = { workspaceId: sql.ref("made.workspace_id"), jobId: sql.ref("made.id") };
  const { rows } = await sql<JobRow>`
    with made as (
        insert into jobs (workspace_id, id, type, status, item_count, request, created_at)
        select ${workspaceId}::uuid, ${jobId}::uuid, 'WEBHOOK_REPLAY', 'PENDING', 0, ${request}, ${at}::timestamptz
        where not exists (select from jobs where workspace_id = ${workspaceId} and type = 'WEBHOOK_REPLAY'
          and completed_at is null)
        returning *),
      queued as (select ${jobCall("replay-webhook", place)} from made)
    select id, type, status, item_count, link_ids, error_code, error_message, created_at, completed_at from made
    where (select count(*) from queued) > 0`.execute(tx);
  return rows[0];
}

/** Begins a run of a replay. Returns how many runs there were since it last got on; undefined when it is finished. */
export async function beginReplay(db: Db, { workspaceId, jobId }: JobPlace): Promise<number | undefined> {
  const { rows } = await sql<Pick<Selectable<Jobs>, "runs">>`update jobs set runs = runs + 1
    where workspace_id = ${workspaceId} and id = ${jobId} and completed_at is null returning runs`.execute(
    db,
  );
  return rows[0]?.runs;
}

/** A replay that is not finished, kept from other runs until the transaction ends. */
export async function lockReplay(
  tx: Db,
  { workspaceId, jobId }: JobPlace,
): Promise<Pick<Selectable<Jobs>, "request"> | undefined> {
  const { rows } = await sql<Pick<Selectable<Jobs>, "request">>`select request from jobs
    where workspace_id = ${workspaceId} and id = ${jobId} and completed_at is null for update`.execute(tx);
  return rows[0];
}

/** Notes how far a replay has come, which begins the count of its runs anew. */
export async function advanceReplay(
  tx: Db,
  { workspaceId, jobId }: JobPlace,
  { queued, request }: { readonly queued: number; readonly request: Buffer },
): Promise<void> {
  await sql`update jobs set status = 'RUNNING', item_count = item_count + ${queued}, request = ${request}, runs = 0
    where workspace_id = ${workspaceId} and id = ${jobId}`.execute(tx);
}

/** Ends a replay, with the reason if it failed. */
export async function endReplay(
  tx: Db,
  { workspaceId, jobId }: JobPlace,
  end: { readonly at: Date; readonly queued: number; readonly reason?: string; readonly message?: string },
): Promise<void> {
  const { at, queued, reason = "", message = "" } = end;
  await sql`update jobs set status = ${reason === "" ? "SUCCEEDED" : "FAILED"}, request = null, completed_at = ${at},
      item_count = item_count + ${queued}, error_code = ${reason}, error_message = ${message}
    where workspace_id = ${workspaceId} and id = ${jobId}`.execute(tx);
}
