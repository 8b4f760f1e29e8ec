import { type Insertable, type Selectable, sql } from "kysely";
import type { WorkspaceTokens } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import { uuidFromTime } from "../../lib/ids.ts";
import type { Page } from "../../lib/page.ts";

export type WorkspaceTokenRow = Selectable<WorkspaceTokens>;

export function insertToken(db: Db, values: Insertable<WorkspaceTokens>): Promise<WorkspaceTokenRow> {
  return db.insertInto("workspace_tokens").values(values).returningAll().executeTakeFirstOrThrow();
}

/**
 * How many tokens a workspace has, and how many were made since, revoked ones too; nobody counts further than `max`. Served by
 * workspace_tokens_page_idx and workspace_tokens_pkey: ids are in the order of time.
 */
export async function countTokensUpTo(
  db: Db,
  workspaceId: string,
  { since, max }: { readonly since: Date; readonly max: number },
): Promise<{ readonly active: number; readonly made: number }> {
  const { rows } = await sql<{ active: number; made: number }>`select
    (select count(*)::int from (select from workspace_tokens
      where workspace_id = ${workspaceId} and revoked_at is null limit ${max}) as active) as active,
    (select count(*)::int from (select from workspace_tokens
      where workspace_id = ${workspaceId} and id >= ${uuidFromTime(since)} limit ${max}) as made) as made`.execute(
    db,
  );
  return rows[0] ?? { active: 0, made: 0 };
}

/** An active token. */
export function findToken(db: Db, workspaceId: string, id: string): Promise<WorkspaceTokenRow | undefined> {
  return activeTokens(db, workspaceId).selectAll().where("id", "=", id).executeTakeFirst();
}

/** Active tokens, newest first; one row more than the page. Served by workspace_tokens_page_idx. */
export function listTokens(db: Db, workspaceId: string, page: Page<"time">): Promise<WorkspaceTokenRow[]> {
  const { after } = page;
  return activeTokens(db, workspaceId)
    .selectAll()
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(created_at, id) < (${after?.key}::timestamptz, ${after?.id}::uuid)`),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(page.size + 1)
    .execute();
}

export async function countTokens(db: Db, workspaceId: string): Promise<bigint> {
  const { count } = await activeTokens(db, workspaceId)
    .select((query) => query.fn.countAll<bigint>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** Renames an active token; the same name changes nothing, not even `updated_at`. */
export function renameToken(
  db: Db,
  { workspaceId, id, name, now }: { workspaceId: string; id: string; name: string; now: Date },
): Promise<WorkspaceTokenRow | undefined> {
  return db
    .updateTable("workspace_tokens")
    .set({
      name,
      updated_at: sql<Date>`case when name = ${name} then updated_at else ${now}::timestamptz end`,
    })
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .returningAll()
    .executeTakeFirst();
}

/** Revokes an active token and tells every process, in one statement. False when there is no such token. */
export async function revokeToken(db: Db, workspaceId: string, id: string, now: Date): Promise<boolean> {
  const { rows } = await sql`
    with revoked as (
      update workspace_tokens set revoked_at = ${now}, updated_at = ${now}
      where workspace_id = ${workspaceId} and id = ${id} and revoked_at is null
      returning id
    ), listed as (
      insert into revocations (subject, revoked_at) select id, ${now}::timestamptz from revoked
      on conflict on constraint revocations_pkey do nothing
    )
    select pg_notify('signpost_revocation', id::text) from revoked`.execute(db);
  return rows.length > 0;
}

function activeTokens(db: Db, workspaceId: string) {
  return db
    .selectFrom("workspace_tokens")
    .where("workspace_id", "=", workspaceId)
    .where("revoked_at", "is", null);
}
