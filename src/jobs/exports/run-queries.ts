import { type Selectable, sql } from "kysely";
import type { Exports } from "../../../gen/database.ts";
import { isLockTimeout } from "../../db/lost-races.ts";
import type { Db } from "../../db/open.ts";
import { inTransaction } from "../../db/open.ts";
import type { WrittenFile } from "../../exports/write-export.ts";
import { holdRollUps } from "../../visitors/roll-ups.ts";

/** One run of an export. Whatever it writes is written only as long as no other run has begun. */
export interface Run {
  readonly workspaceId: string;
  readonly exportId: string;
  readonly run: string;
}

/** How long a run waits for the writers of the workspace: others queue behind it. In milliseconds. */
const patienceMs = 2_000;

/**
 * Begins a run, which ends all others. Undefined when the export is finished or gone, and "busy" when the writers of the
 * workspace were busy for too long.
 */
export function beginRun(
  db: Db,
  { workspaceId, exportId, run }: Run,
): Promise<Selectable<Exports> | "busy" | undefined> {
  return inTransaction(db, async (tx) => {
    await sql`select set_config('lock_timeout', ${String(patienceMs)}, true)`.execute(tx);
    // Visitors who are being deleted are gone before the first event is read; see `withdrawExports`.
    await holdRollUps(workspaceId).execute(tx);
    const { rows } = await sql<Selectable<Exports>>`
      update exports set status = 'RUNNING', run = ${run}, runs = runs + 1, row_count = 0
      where workspace_id = ${workspaceId} and id = ${exportId} and completed_at is null returning *`.execute(
      tx,
    );
    return rows[0];
  }).catch((error: unknown) => {
    if (isLockTimeout(error)) return "busy";
    throw error;
  });
}

/** Notes how many events are written. False when the run has ended. */
export async function noteProgress(
  db: Db,
  { workspaceId, exportId, run }: Run,
  rowCount: number,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`update exports set row_count = ${rowCount}
    where workspace_id = ${workspaceId} and id = ${exportId} and run = ${run} and completed_at is null`.execute(
    db,
  );
  return numAffectedRows > 0n;
}

export interface RunEnd {
  readonly at: Date;
  readonly expiresAt: Date;
}

/** Offers the file of a run. False when the run has ended before. */
export async function succeed(
  db: Db,
  { workspaceId, exportId, run }: Run,
  { file, storageKey, at, expiresAt }: RunEnd & { readonly file: WrittenFile; readonly storageKey: string },
): Promise<boolean> {
  const { numAffectedRows = 0n } =
    await sql`update exports set status = 'SUCCEEDED', row_count = ${file.rows},
      size_bytes = ${file.bytes}, sha256 = ${file.sha256}, storage_key = ${storageKey}, completed_at = ${at},
      expires_at = ${expiresAt}
    where workspace_id = ${workspaceId} and id = ${exportId} and run = ${run} and completed_at is null`.execute(
      db,
    );
  return numAffectedRows > 0n;
}

/** Gives an export up. */
export async function giveUp(
  db: Db,
  { workspaceId, exportId, run }: Run,
  { reason, message, at, expiresAt }: RunEnd & { readonly reason: string; readonly message: string },
): Promise<void> {
  await sql`update exports set status = 'FAILED', error_code = ${reason}, error_message = ${message},
      completed_at = ${at}, expires_at = ${expiresAt}
    where workspace_id = ${workspaceId} and id = ${exportId} and run = ${run} and completed_at is null`.execute(
    db,
  );
}
