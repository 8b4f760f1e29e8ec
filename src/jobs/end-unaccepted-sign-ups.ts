import { sql } from "kysely";
import { deleteWorkspace, type QueueMails } from "../db/end-workspaces.ts";
import { type Db, inTransaction } from "../db/open.ts";
import { challengeLivesMs } from "../people/challenges.ts";
import { type PurgeDeps, purgeWorkspace } from "./purge/purge-workspaces.ts";

/** How many workspaces one round ends at most; the next hour ends others. */
const roundMax = 500;

/** Whoever never accepted the invitation hears nothing of its end. */
const noMails: QueueMails = () => sql`null`;

/**
 * Deletes the workspaces of sign-ups that nobody accepted, for good, so that their addresses are free again. Such a
 * workspace has one member, who never accepted and can no longer accept, and neither tokens nor sandboxes.
 */
export async function endUnacceptedSignUps(deps: PurgeDeps, signal?: AbortSignal): Promise<void> {
  const { db, now } = deps;
  const at = now();
  const { rows } = await unaccepted(at, sql`limit ${roundMax}`).execute(db);
  for (const { id } of rows) {
    if (signal?.aborted === true) return;
    if (await endOne(db, id, at)) await purgeWorkspace(deps, id, signal);
  }
}

/** Ends one workspace, unless somebody has accepted or was invited again in the meantime. */
function endOne(db: Db, workspaceId: string, at: Date): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const locked = sql`and m.workspace_id = ${workspaceId} for no key update of m`;
    const { rows } = await unaccepted(at, locked).execute(tx);
    if (rows.length === 0) return false;
    await deleteWorkspace(tx, { workspaceId, at, jobCalls: noMails });
    // It had neither tokens nor sessions, so no process needs to remember its end.
    await tx.updateTable("revocations").set({ forget_at: at }).where("subject", "=", workspaceId).execute();
    return true;
  });
}

/** Served by members_pending_admin_idx. */
function unaccepted(at: Date, rest: ReturnType<typeof sql>) {
  const since = new Date(at.getTime() - challengeLivesMs.INVITATION);
  return sql<{ id: string }>`
    select w.id from members m join workspaces w on w.id = m.workspace_id
    where m.role = 'ADMIN' and m.password_hash is null and m.email_verified_at is null and m.last_signin_at is null
      and w.deleted_at is null and w.created_at <= ${since}
      and not exists (select from members o where o.workspace_id = w.id and o.id <> m.id)
      and not exists (select from member_challenges c where c.workspace_id = w.id and c.member_id = m.id
        and c.kind = 'INVITATION' and c.used_at is null and c.expires_at > ${at})
      and not exists (select from workspace_tokens t where t.workspace_id = w.id)
      and not exists (select from workspaces s where s.parent_workspace_id = w.id)
    ${rest}`;
}
