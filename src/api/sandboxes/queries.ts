import { type Insertable, type Selectable, sql } from "kysely";
import type { LinkSettings, Workspaces, WorkspaceTokens } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";

export type SandboxRow = Pick<Selectable<Workspaces>, "id" | "name" | "created_at" | "expires_at">;

/** What a sandbox takes over from its workspace, and how many the workspace has made today. */
export type ParentRow = Pick<Selectable<Workspaces>, "subscription_type" | "sandboxes_made">;

/**
 * Counts one more sandbox of a workspace, and locks the workspace until the transaction ends, so that calls which make
 * sandboxes of it take turns. Undefined when it was deleted.
 */
export async function countMade(tx: Db, workspaceId: string, at: Date): Promise<ParentRow | undefined> {
  const today = at.toISOString().slice(0, 10);
  const { rows } = await sql<ParentRow>`
    update workspaces set sandboxes_made_on = ${today}::date,
      sandboxes_made = case when sandboxes_made_on = ${today}::date then sandboxes_made else 0 end + 1
    where id = ${workspaceId} and deleted_at is null
    returning subscription_type, sandboxes_made`.execute(tx);
  return rows[0];
}

/** How many sandboxes a workspace has now. */
export async function countSandboxes(db: Db, parentId: string, at: Date): Promise<number> {
  return (await listSandboxes(db, parentId, at)).length;
}

export interface NewSandboxRows {
  readonly workspace: Insertable<Workspaces>;
  readonly linkSetting: Insertable<LinkSettings>;
  readonly token: Insertable<WorkspaceTokens>;
}

/** Inserts the rows that every sandbox begins with, and returns the row of its token. It has no members. */
export function insertSandbox(
  tx: Db,
  { workspace, linkSetting, token }: NewSandboxRows,
): Promise<Selectable<WorkspaceTokens>> {
  return tx
    .with("new_workspace", (query) => query.insertInto("workspaces").values(workspace))
    .with("new_link_setting", (query) => query.insertInto("link_settings").values(linkSetting))
    .insertInto("workspace_tokens")
    .values(token)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The sandboxes of a workspace, newest first. Served by workspaces_parent_idx. */
export function listSandboxes(db: Db, parentId: string, at: Date): Promise<SandboxRow[]> {
  return db
    .selectFrom("workspaces")
    .select(["id", "name", "created_at", "expires_at"])
    .where("parent_workspace_id", "=", parentId)
    .where("deleted_at", "is", null)
    .where("expires_at", ">", at)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
}

/** Whether a workspace has this sandbox, which has neither ended nor been deleted. */
export async function hasSandbox(db: Db, parentId: string, id: string, at: Date): Promise<boolean> {
  return (await listSandboxes(db, parentId, at)).some((sandbox) => sandbox.id === id.toLowerCase());
}

/** Whether a caller's workspace is this living sandbox, or has it. */
export async function mayFill(
  db: Db,
  { callerId, id, at }: { readonly callerId: string; readonly id: string; readonly at: Date },
): Promise<boolean> {
  const found = await db
    .selectFrom("workspaces")
    .select("id")
    .where("id", "=", id)
    .where("environment", "=", "test")
    .where("deleted_at", "is", null)
    .where("expires_at", ">", at)
    .where((query) => query.or([query("id", "=", callerId), query("parent_workspace_id", "=", callerId)]))
    .executeTakeFirst();
  return found !== undefined;
}

/** The ids of living links of a workspace: those among `ids`, or the newest 50 when it is empty. */
export async function findLinks(db: Db, workspaceId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom("living_links")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .$if(ids.length > 0, (query) => query.where("id", "in", [...ids]))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(50)
    .execute();
  return rows.flatMap(({ id }) => (id === null ? [] : [id]));
}

/** The ids of those events that are stored, in the order given. */
export async function findEvents(db: Db, workspaceId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom("events")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "in", [...ids])
    .execute();
  const stored = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => stored.has(id));
}
