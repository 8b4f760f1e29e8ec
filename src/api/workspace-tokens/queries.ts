import { type Insertable, type Selectable, sql } from "kysely";
import type { ChangedScopes, WorkspaceTokens } from "../../../gen/database.ts";
import { tellRevocation, tellScopeChange } from "../../db/channels.ts";
import type { Db } from "../../db/open.ts";
import { uuidFromTime } from "../../lib/ids.ts";
import type { Page } from "../../lib/paging/page.ts";
import { newestFirst } from "../resources/page-queries.ts";
import type { WorkspaceTokenRow } from "../resources/workspace-token.ts";

/** When a sandbox expires. */
export async function findExpiry(db: Db, workspaceId: string): Promise<Date | undefined> {
  const found = await db
    .selectFrom("workspaces")
    .select("expires_at")
    .where("id", "=", workspaceId)
    .executeTakeFirst();
  return found?.expires_at ?? undefined;
}

export function insertToken(db: Db, values: Insertable<WorkspaceTokens>): Promise<WorkspaceTokenRow> {
  return db.insertInto("workspace_tokens").values(values).returningAll().executeTakeFirstOrThrow();
}

/**
 * How many active tokens a workspace has, and how many it has made since a time, including revoked ones. Neither is
 * counted further than `max`. Served by workspace_tokens_page_idx and workspace_tokens_pkey, because ids are in the
 * order of time.
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

/** Active tokens, newest first, one more row than the page. Served by workspace_tokens_page_idx. */
export function listTokens(db: Db, workspaceId: string, page: Page<"time">): Promise<WorkspaceTokenRow[]> {
  return activeTokens(db, workspaceId).selectAll().$call(newestFirst(page)).execute();
}

export async function countTokens(db: Db, workspaceId: string): Promise<bigint> {
  const { count } = await activeTokens(db, workspaceId)
    .select((query) => query.fn.countAll<bigint>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** An active token, locked until the transaction ends. */
export function lockToken(tx: Db, workspaceId: string, id: string): Promise<WorkspaceTokenRow | undefined> {
  return activeTokens(tx, workspaceId).selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

/** Writes the name and the scopes of a locked token. */
export function writeToken(
  tx: Db,
  { workspace_id, id }: WorkspaceTokenRow,
  values: Pick<WorkspaceTokenRow, "name" | "scope" | "updated_at">,
): Promise<WorkspaceTokenRow> {
  return tx
    .updateTable("workspace_tokens")
    .set(values)
    .where("workspace_id", "=", workspace_id)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Tells every process of a token's changed scopes when the transaction commits. Gives the version of the change. */
export async function announceScopes(tx: Db, { id, scope, updated_at }: WorkspaceTokenRow): Promise<number> {
  const tell = tellScopeChange({ tokenId: id, version: sql.ref("version"), scope });
  const { rows } = await sql<Pick<Selectable<ChangedScopes>, "version">>`
    with change as (
      insert into changed_scopes (token_id, scope, version, changed_at) values (${id}, ${scope}, 1, ${updated_at})
      on conflict on constraint changed_scopes_pkey do update set
        scope = excluded.scope, version = changed_scopes.version + 1, changed_at = excluded.changed_at
      returning version
    )
    select version, ${tell} from change`.execute(tx);
  const [change] = rows;
  if (change === undefined) throw new Error("an upsert returns its row");
  return change.version;
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
    ), forgotten as (
      delete from changed_scopes using revoked where token_id = revoked.id
    )
    select ${tellRevocation(sql.ref("id"))} from revoked`.execute(db);
  return rows.length > 0;
}

function activeTokens(db: Db, workspaceId: string) {
  return db
    .selectFrom("workspace_tokens")
    .where("workspace_id", "=", workspaceId)
    .where("revoked_at", "is", null);
}
