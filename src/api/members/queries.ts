import { type Selectable, sql } from "kysely";
import type { Members } from "../../../gen/database.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import { uuidFromTime } from "../../lib/ids.ts";
import type { Page } from "../../lib/paging/page.ts";
import { isActiveAdmin } from "../../people/active-admin.ts";
import { newestFirst } from "../resources/page-queries.ts";

export type MemberRow = Selectable<Members>;

export function findMember(db: Db, workspaceId: string, id: string): Promise<MemberRow | undefined> {
  return db
    .selectFrom("members")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** Members, newest first, one more row than the page. Served by members_page_idx. */
export function listMembers(db: Db, workspaceId: string, page: Page<"time">): Promise<MemberRow[]> {
  return db
    .selectFrom("members")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .$call(newestFirst(page))
    .execute();
}

/** How many members a workspace has, pending ones too. */
export async function countMembers(db: Db, workspaceId: string): Promise<bigint> {
  const { count } = await db
    .selectFrom("members")
    .where("workspace_id", "=", workspaceId)
    .select((query) => query.fn.countAll<bigint>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * How many links to new addresses a workspace has mailed since a time, not counted further than `max`. Served by
 * member_challenges_pkey, because ids are in the order of time.
 */
export async function countMailedLinksUpTo(
  db: Db,
  workspaceId: string,
  { since, max }: { readonly since: Date; readonly max: number },
): Promise<number> {
  const { rows } = await sql<{ mailed: number }>`
    select count(*)::int as mailed from (select from member_challenges
      where workspace_id = ${workspaceId} and id >= ${uuidFromTime(since)}
        and kind in ('INVITATION', 'EMAIL_CONFIRMATION') limit ${max}) as links`.execute(db);
  return onlyRow(rows).mailed;
}

/** Whether a workspace has an administrator besides this member who can act now. Served by members_admin_idx. */
export async function hasOtherAdmin(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from members where workspace_id = ${workspaceId} and id <> ${id} and ${isActiveAdmin})
      as found`.execute(db);
  return onlyRow(rows).found;
}
