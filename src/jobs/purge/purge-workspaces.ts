import { sql } from "kysely";
import { deleteWorkspace } from "../../db/end-workspaces.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import type { TokenBox } from "../../integrations/token-box.ts";
import type { Storage } from "../../lib/storage/storage.ts";
import { restorableMs } from "../../model/workspace-end.ts";
import { holdRollUps } from "../../visitors/roll-ups.ts";
import { jobCalls } from "../queue.ts";
import { deleteTenantRows } from "./purge-rows.ts";

export interface PurgeDeps {
  readonly db: Db;
  readonly storage: Storage;
  readonly tokenBox: TokenBox;
  readonly now: () => Date;
  /** The most rows that one statement deletes; 1,000 when absent. */
  readonly batchSize?: number;
}

/** Calls that began before the deletion of a sandbox have ended after this time, in milliseconds. */
const callsEndMs = 2 * 60 * 1000;

/** How many sandboxes one round ends at most. */
const expiredMax = 100;

/**
 * Deletes sandboxes that have expired, and purges the workspaces whose time has come: live ones 30 days after their
 * deletion, sandboxes minutes after it. A purge that is cut short goes on with the next run.
 */
export async function purgeWorkspaces(deps: PurgeDeps, signal?: AbortSignal): Promise<void> {
  await endExpiredSandboxes(deps);
  const failures: unknown[] = [];
  for (const workspaceId of await dueWorkspaces(deps)) {
    if (signal?.aborted === true) break;
    // One workspace that cannot be purged does not hold up the others.
    await purgeWorkspace(deps, workspaceId, signal).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

async function endExpiredSandboxes({ db, now }: PurgeDeps): Promise<void> {
  const at = now();
  const { rows } = await sql<{ id: string }>`select id from workspaces
    where expires_at <= ${at} and environment = 'test' and deleted_at is null
    order by expires_at limit ${expiredMax}`.execute(db);
  for (const { id } of rows) await deleteWorkspace(db, { workspaceId: id, at, jobCalls });
}

async function dueWorkspaces({ db, now }: PurgeDeps): Promise<string[]> {
  const at = now().getTime();
  const { rows } = await sql<{ id: string }>`select id from workspaces w
    where w.deleted_at <= ${new Date(at - callsEndMs)}
      and (w.environment = 'test' or w.deleted_at <= ${new Date(at - restorableMs)})
      -- Sandboxes go before the workspace that they belong to.
      and not exists (select from workspaces s where s.parent_workspace_id = w.id)
    order by w.deleted_at limit ${expiredMax}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Deletes every row and every file of a deleted workspace, whether or not its time has come, in small transactions.
 * Nobody can restore it from then on. Returns whether nothing is left; if not, call it again: the signal has ended it, or
 * jobs of the workspace still run.
 */
export async function purgeWorkspace(
  deps: PurgeDeps,
  workspaceId: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const { db, storage, tokenBox, now, batchSize = 1_000 } = deps;
  if (!(await beginPurge(db, workspaceId, now()))) return false;
  if (!(await dropJobs(db, workspaceId))) return false;
  // Whatever was being written when a table was emptied is found by the next round.
  for (;;) {
    const deleted = await deleteTenantRows({ db, storage, tokenBox, now, batchSize }, workspaceId, signal);
    if (signal?.aborted === true) return false;
    if (deleted === 0) break;
  }
  await db.deleteFrom("workspaces").where("id", "=", workspaceId).execute();
  return true;
}

/** From then on no visit of the workspace is stored. False when there is no such deleted workspace. */
function beginPurge(db: Db, workspaceId: string, at: Date): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    // Whoever stores visits of the workspace now has seen it without the mark, so the purge waits for it.
    await holdRollUps(workspaceId).execute(tx);
    const { rows } = await sql`
      update workspaces set purge_began_at = coalesce(purge_began_at, ${at})
      where id = ${workspaceId} and deleted_at is not null returning id`.execute(tx);
    return rows.length > 0;
  });
}

/** Takes the workspace's jobs off the queue. False when some of them are running. */
async function dropJobs(db: Db, workspaceId: string): Promise<boolean> {
  const { rows } = await sql<{ running: bigint }>`
    with own as (select id, locked_at from graphile_worker._private_jobs where payload ->> 'workspaceId' = ${workspaceId}),
      dropped as (delete from graphile_worker._private_jobs j using own
        where j.id = own.id and j.locked_at is null)
    select count(*) filter (where locked_at is not null) as running from own`.execute(db);
  return onlyRow(rows).running === 0n;
}
