import { sql } from "kysely";
import type { AgentGrants } from "../agents/grants.ts";
import { deleteWorkspace, type QueueMails } from "../db/end-workspaces.ts";
import { type Db, inTransaction } from "../db/open.ts";
import { type PurgeDeps, purgeWorkspace } from "./purge/purge-workspaces.ts";

/** How many registrations one round ends at most; the next minute ends others. */
const roundMax = 500;

/** How long a workspace stays that nobody claims, in milliseconds (behaviour 8.1). */
const unclaimedLifeMs = 30 * 24 * 60 * 60 * 1000;

/** A workspace that nobody has claimed has nobody who could be told. */
const noMails: QueueMails = () => sql`null`;

export interface EndRegistrationsDeps extends PurgeDeps {
  readonly endGrant: AgentGrants["end"];
}

/**
 * Ends the access of agents whose registration is over and whose workspace nobody has claimed, and deletes such workspaces
 * for good 30 days after the registration.
 */
export async function endAgentRegistrations(deps: EndRegistrationsDeps, signal?: AbortSignal): Promise<void> {
  const { db, now, endGrant } = deps;
  const at = now();
  for (const workspaceId of await overRegistrations(db, at)) {
    if (signal?.aborted === true) return;
    await endAccess(db, workspaceId, { at, endGrant });
  }
  for (const workspaceId of await unclaimedWorkspaces(db, at)) {
    if (signal?.aborted === true) return;
    await removeUnclaimed(deps, workspaceId, { at, signal });
  }
}

async function overRegistrations(db: Db, at: Date): Promise<string[]> {
  const { rows } = await sql<{ workspace_id: string }>`
    select workspace_id from agent_registrations
    where claimed_at is null and ended_at is null and expires_at <= ${at} limit ${roundMax}`.execute(db);
  return rows.map(({ workspace_id }) => workspace_id);
}

function endAccess(
  db: Db,
  workspaceId: string,
  { at, endGrant }: { readonly at: Date; readonly endGrant: AgentGrants["end"] },
): Promise<void> {
  return inTransaction(db, async (tx) => {
    const ended = await tx
      .updateTable("agent_registrations")
      .set({ ended_at: at })
      .where("workspace_id", "=", workspaceId)
      .where("claimed_at", "is", null)
      .where("ended_at", "is", null)
      .returning("grant_id as grantId")
      .executeTakeFirst();
    if (ended !== undefined) await endGrant(tx, { workspaceId, grantId: ended.grantId }, at);
  });
}

async function unclaimedWorkspaces(db: Db, at: Date): Promise<string[]> {
  const since = new Date(at.getTime() - unclaimedLifeMs);
  const { rows } = await sql<{ workspace_id: string }>`
    select workspace_id from agent_registrations
    where claimed_at is null and created_at <= ${since} limit ${roundMax}`.execute(db);
  return rows.map(({ workspace_id }) => workspace_id);
}

async function removeUnclaimed(
  deps: PurgeDeps,
  workspaceId: string,
  { at, signal }: { readonly at: Date; readonly signal: AbortSignal | undefined },
): Promise<void> {
  await inTransaction(deps.db, async (tx) => {
    await deleteWorkspace(tx, { workspaceId, at, jobCalls: noMails });
    // Its only tokens were the agent's, which ended before, so no process needs to remember the workspace's end.
    await tx.updateTable("revocations").set({ forget_at: at }).where("subject", "=", workspaceId).execute();
  });
  await purgeWorkspace(deps, workspaceId, signal);
}
