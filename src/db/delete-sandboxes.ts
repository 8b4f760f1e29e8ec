import { type RawBuilder, sql } from "kysely";
import { tellRevocation, tellWorkspaceChange } from "./channels.ts";
import type { Db } from "./open.ts";

/**
 * Ends the chosen sandboxes that have not ended: their tokens answer 401 and their links 404 at once, in every process.
 * Returns their ids.
 */
export async function deleteSandboxes(
  db: Db,
  chosen: RawBuilder<boolean>,
  at: Date,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    with gone as (
      update workspaces set deleted_at = ${at}, updated_at = ${at}
      where parent_workspace_id is not null and deleted_at is null and (${chosen})
      returning id
    ), listed as (
      insert into revocations (subject, revoked_at) select id, ${at}::timestamptz from gone
      on conflict on constraint revocations_pkey do nothing
    )
    select id, ${tellRevocation(sql.ref("id"))}, ${tellWorkspaceChange(sql.ref("id"))} from gone`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Ends sandboxes whose time is over, at most `limit` of them. Their tokens carry the end of the sandbox, so no process has
 * to remember them. Returns how many it ended.
 */
export async function deleteExpiredSandboxes(db: Db, at: Date, limit = 100): Promise<number> {
  const { rows } = await sql`
    with gone as (
      update workspaces set deleted_at = ${at}, updated_at = ${at} where id = any(array(
        select id from workspaces where expires_at <= ${at} and deleted_at is null
        order by expires_at limit ${limit} for update skip locked))
      returning id
    )
    select ${tellWorkspaceChange(sql.ref("id"))} from gone`.execute(db);
  return rows.length;
}

/** Ends all sandboxes of a workspace. */
export function deleteSandboxesOf(db: Db, parentId: string, at: Date): Promise<readonly string[]> {
  return deleteSandboxes(db, sql<boolean>`parent_workspace_id = ${parentId}`, at);
}
