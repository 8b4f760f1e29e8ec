import { type RawBuilder, sql } from "kysely";
import type { Db } from "../db/open.ts";
import type { QueuedJobs } from "../model/jobs.ts";

/** Queues a job when the statement commits. */
type QueueDeletion = (
  task: "delete-exports",
  payload: { readonly [Field in keyof QueuedJobs["delete-exports"]]: string },
) => RawBuilder<unknown>;

/**
 * Takes back what the exports of a workspace hold of a visitor who is being deleted: finished files are deleted, and
 * running exports begin again, which is no interruption. Part of the transaction that deletes the visitor, which shares
 * the workspace's roll-ups.
 */
export async function withdrawExports(
  tx: Db,
  {
    workspaceId,
    at,
    jobCall,
  }: { readonly workspaceId: string; readonly at: Date; readonly jobCall: QueueDeletion },
): Promise<void> {
  // The locks come first, so that the next statement sees the exports that have just finished as finished.
  await sql`select from exports where workspace_id = ${workspaceId} order by id for update`.execute(tx);
  await sql`with
      restarted as (update exports set run = null, runs = runs - (run is not null)::integer
        where workspace_id = ${workspaceId} and completed_at is null),
      ended as (update exports set expires_at = ${at}
        where workspace_id = ${workspaceId} and completed_at is not null and expires_at > ${at} returning id)
    select ${jobCall("delete-exports", { workspaceId })} from (select from ended limit 1) as any_ended`.execute(
    tx,
  );
}
