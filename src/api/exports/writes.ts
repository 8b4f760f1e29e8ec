import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { ExportFormat } from "../../model/exports.ts";
import type { Deps } from "../deps.ts";
import type { ExportRow } from "./queries.ts";

export interface NewExport {
  readonly workspaceId: string;
  readonly id: string;
  readonly format: ExportFormat;
  readonly linkId: string | undefined;
  readonly from: Date;
  readonly to: Date;
  readonly at: Date;
  /** How many exports the workspace may have. */
  readonly max: number;
}

/**
 * Writes an export and queues its job, in one statement. Undefined when the workspace has too many; breaks
 * `exports_running_key` when another one is not finished.
 */
export async function insertExport(
  db: Db,
  jobCall: Deps["jobCall"],
  { workspaceId, id, format, linkId, from, to, at, max }: NewExport,
): Promise<ExportRow | undefined> {
  const place = { workspaceId: sql.ref("made.workspace_id"), exportId: sql.ref("made.id") };
  const { rows } = await sql<ExportRow>`
    with made as (
        insert into exports (workspace_id, id, format, link_id, starts_at, ends_at, status, created_at)
        select ${workspaceId}::uuid, ${id}::uuid, ${format}::export_format, ${linkId ?? null}::uuid,
          ${from}::timestamptz, ${to}::timestamptz, 'PENDING', ${at}::timestamptz
        where (select count(*) from exports where workspace_id = ${workspaceId}
          and (expires_at is null or expires_at > ${at})) < ${max}
        returning *),
      queued as (select ${jobCall("export-events", place)} from made)
    select * from made where (select count(*) from queued) > 0`.execute(db);
  return rows[0];
}

/** Ends an export, whether or not it is finished, and queues the job that deletes it. False when there is none. */
export async function endExport(
  db: Db,
  jobCall: Deps["jobCall"],
  { workspaceId, id, at }: { readonly workspaceId: string; readonly id: string; readonly at: Date },
): Promise<boolean> {
  const { rows } = await sql`
    with ended as (
        update exports set expires_at = ${at}, completed_at = coalesce(completed_at, ${at}),
          status = case when completed_at is null then 'FAILED' else status end
        where workspace_id = ${workspaceId} and id = ${id} and (expires_at is null or expires_at > ${at})
        returning workspace_id)
    select ${jobCall("delete-exports", { workspaceId: sql.ref("ended.workspace_id") })} from ended`.execute(
    db,
  );
  return rows.length > 0;
}
