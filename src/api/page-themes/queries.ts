import { type Selectable, sql } from "kysely";
import type { Json, Media, PageThemes } from "../../../gen/database.ts";
import { tellWorkspaceChange } from "../../db/channels.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import { withinAnswer } from "../../db/within-answer.ts";
import type { Page } from "../../lib/paging/page.ts";

export type ThemeRow = Selectable<PageThemes>;

const themeColumns = sql.raw(
  "workspace_id, id, styling, template_id, is_applied, unattached_since, created_at, updated_at",
);

export async function findTheme(db: Db, workspaceId: string, id: string): Promise<ThemeRow | undefined> {
  const { rows } = await sql<ThemeRow>`select ${themeColumns} from page_themes
    where workspace_id = ${workspaceId} and id = ${id}`.execute(db);
  return rows[0];
}

/** The same for a change: nobody else changes the theme until the transaction ends. */
export async function lockTheme(tx: Db, workspaceId: string, id: string): Promise<ThemeRow | undefined> {
  const { rows } = await sql<ThemeRow>`select ${themeColumns} from page_themes
    where workspace_id = ${workspaceId} and id = ${id} for update`.execute(tx);
  return rows[0];
}

/** One page and one more row, newest first, as many as fit an answer. Served by page_themes_page_idx. */
export async function listThemes(
  db: Db,
  workspaceId: string,
  { size, after }: Page<"time">,
): Promise<(ThemeRow & { readonly bytes: number })[]> {
  const beyond = after ? sql`and (created_at, id) < (${after.key}, ${after.id}::uuid)` : sql.raw("");
  const page = sql`select ${themeColumns} from page_themes
    where workspace_id = ${workspaceId} and template_id is null ${beyond}
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

export type MediaUse = Pick<Selectable<Media>, "id" | "media_type">;

/** Those of these media files that the workspace has, locked so that nobody deletes them before a theme has them. */
export async function lockMedia(tx: Db, workspaceId: string, ids: readonly string[]): Promise<MediaUse[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<MediaUse>`select id, media_type from media
    where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) order by id for key share`.execute(tx);
  return rows;
}

/**
 * Gives a theme its new look, and tells the scan runtime in the same statement. All plans of the workspace are loaded
 * again, because one notice costs the same for any number of links.
 */
export async function restyleTheme(tx: Db, theme: ThemeRow, styling: Json, at: Date): Promise<ThemeRow> {
  const { rows } = await sql<ThemeRow>`
    with changed as (
        update page_themes set styling = ${JSON.stringify(styling)}::jsonb, updated_at = ${at}
        where workspace_id = ${theme.workspace_id} and id = ${theme.id} returning ${themeColumns}),
      notice as (select ${tellWorkspaceChange(sql.ref("workspace_id"))} from changed)
    select changed.* from changed, notice`.execute(tx);
  return onlyRow(rows);
}
