import { sql } from "kysely";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import { withinAnswer } from "../../db/within-answer.ts";
import type { Page } from "../../lib/paging/page.ts";
import type { ThemeRow } from "../resources/page-themes/theme-queries.ts";

/**
 * One page and one more row, newest first, as many as fit an answer, without the themes of templates. Served by
 * page_themes_page_idx.
 */
export async function listThemes(
  db: Db,
  workspaceId: string,
  { size, after }: Page<"time">,
): Promise<(ThemeRow & { readonly bytes: number })[]> {
  const beyond = after ? sql`and (created_at, id) < (${after.key}, ${after.id}::uuid)` : sql.raw("");
  const page = sql`select * from page_themes where workspace_id = ${workspaceId} and template_id is null ${beyond}
    order by created_at desc, id desc limit ${size + 1}`;
  const bytes = sql.raw("octet_length(page.styling::text)");
  const order = sql.raw("page.created_at desc, page.id desc");
  const statement = sql<ThemeRow & { bytes: number }>`${withinAnswer(page, { bytes, order })}`;
  return (await statement.execute(db)).rows;
}

export async function countThemes(db: Db, workspaceId: string): Promise<bigint> {
  const { rows } = await sql<{ total: bigint }>`select count(*) as total from page_themes
    where workspace_id = ${workspaceId} and template_id is null`.execute(db);
  return onlyRow(rows).total;
}
