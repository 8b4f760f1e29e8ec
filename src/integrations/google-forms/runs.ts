import { randomUUID } from "node:crypto";
import { type Selectable, sql } from "kysely";
import type { GoogleFormsIntegrations } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";

/** A run that may fetch the responses of a workspace's forms. No other run of the workspace may at the same time. */
export interface Run {
  readonly workspaceId: string;
  readonly integrationId: string;
  readonly id: string;
  readonly sealedToken: Buffer;
  /** In a round every form has a turn, over as many runs as that takes. */
  readonly roundBeganAt: Date;
}

/** A run that wrote nothing for this long is taken for dead, in milliseconds. It is longer than any two answers take. */
export const runMs = 60_000;

/** Usually responses are fetched this often, in milliseconds. */
export const syncEveryMs = 15 * 60 * 1000;

/** Begins a run for the integration whose turn it is, of all workspaces. Undefined when no turn is due. */
export function beginDueRun(db: Db, at: Date): Promise<Run | undefined> {
  return beginRun(
    db,
    at,
    sql`next_sync_at <= ${at} and exists (
    select from workspaces w where w.id = i.workspace_id and w.deleted_at is null)`,
  );
}

/** Begins a run for a workspace, whenever its turn is. Undefined when one is under way, or nothing is connected. */
export function beginRunOf(db: Db, workspaceId: string, at: Date): Promise<Run | undefined> {
  return beginRun(db, at, sql`workspace_id = ${workspaceId}`);
}

async function beginRun(db: Db, at: Date, condition: ReturnType<typeof sql>): Promise<Run | undefined> {
  const { rows } = await sql<Selectable<GoogleFormsIntegrations>>`
    update google_forms_integrations
    set run = ${randomUUID()}, run_until = ${new Date(at.getTime() + runMs)},
      round_began_at = coalesce(round_began_at, ${at})
    where workspace_id = (
      select workspace_id from google_forms_integrations i
      where status = 'ACTIVE' and (run_until is null or run_until <= ${at}) and ${condition}
      order by next_sync_at, workspace_id limit 1 for update skip locked)
    returning *`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    workspaceId: row.workspace_id,
    integrationId: row.id,
    // Both were set.
    id: row.run ?? "",
    roundBeganAt: row.round_began_at ?? at,
    sealedToken: row.refresh_token,
  };
}

export interface RunEnd {
  readonly at: Date;
  /** Whether every form has had its turn, so that the round is over. */
  readonly isRoundOver: boolean;
  /** Whether Google has told all that it was asked for, at least of some form. */
  readonly hasFetched: boolean;
  readonly nextSyncAt: Date;
  /** What went wrong and what to do about it; empty when nothing did. */
  readonly lastError: string;
  /** Whether Google has ended the grant. */
  readonly isDisconnected?: boolean;
}

/** Ends a run. Nothing happens when another run has taken it over, or the integration is gone. */
export async function endRun(db: Db, { workspaceId, id }: Run, end: RunEnd): Promise<void> {
  await sql`
    update google_forms_integrations
    set run = null, run_until = null, next_sync_at = ${end.nextSyncAt}, last_error = ${end.lastError},
      round_began_at = case when ${end.isRoundOver} then null else round_began_at end,
      last_synced_at = case when ${end.isRoundOver && end.hasFetched} then ${end.at} else last_synced_at end,
      status = case when ${end.isDisconnected === true} then 'DISCONNECTED' else status end,
      updated_at = case when ${end.isDisconnected === true} then ${end.at} else updated_at end
    where workspace_id = ${workspaceId} and run = ${id}`.execute(db);
}

/** Locks the integration for a transaction of the run. False when the run may write nothing any more. */
export async function holdRun(tx: Db, { workspaceId, id }: Run, at: Date): Promise<boolean> {
  const { rows } = await sql`
    update google_forms_integrations set run_until = ${new Date(at.getTime() + runMs)}
    where workspace_id = ${workspaceId} and run = ${id} and status = 'ACTIVE'
    returning workspace_id`.execute(tx);
  return rows.length > 0;
}
