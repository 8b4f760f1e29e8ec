import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Json, Media, PageThemes } from "../../../../gen/database.ts";
import { tellWorkspaceChange } from "../../../db/channels.ts";
import { onlyRow } from "../../../db/only-row.ts";
import type { Db } from "../../../db/open.ts";

export type ThemeRow = Selectable<PageThemes>;

/** A theme of the workspace, also one that belongs to a template. */
export async function findTheme(db: Db, workspaceId: string, id: string): Promise<ThemeRow | undefined> {
  const { rows } = await sql<ThemeRow>`select * from page_themes
    where workspace_id = ${workspaceId} and id = ${id}`.execute(db);
  return rows[0];
}

/**
 * The same for a change: nobody else changes the theme until the transaction ends. The template of a theme is locked
 * before it, as calls do that change the template.
 */
export async function lockTheme(tx: Db, workspaceId: string, id: string): Promise<ThemeRow | undefined> {
  const plain = await sql<ThemeRow>`select * from page_themes
    where workspace_id = ${workspaceId} and id = ${id} and template_id is null for update`.execute(tx);
  if (plain.rows[0] !== undefined) return plain.rows[0];
  await sql`select from page_theme_templates where workspace_id = ${workspaceId}
    and id = (select template_id from page_themes where workspace_id = ${workspaceId} and id = ${id})
    for no key update`.execute(tx);
  const { rows } = await sql<ThemeRow>`select * from page_themes
    where workspace_id = ${workspaceId} and id = ${id} for update`.execute(tx);
  return rows[0];
}

export type MediaUse = Pick<Selectable<Media>, "id" | "media_type" | "sha256">;

/** Those of these media files that the workspace has, locked so that nobody deletes them before a theme has them. */
export async function lockMedia(tx: Db, workspaceId: string, ids: readonly string[]): Promise<MediaUse[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<MediaUse>`select id, media_type, sha256 from media
    where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) order by id for key share`.execute(tx);
  return rows;
}

/**
 * Gives a theme its new look, and tells the scan runtime in the same statement. All plans of the workspace are loaded
 * again, because one notice costs the same for any number of links.
 */
export async function restyleTheme(
  tx: Db,
  theme: Pick<ThemeRow, "workspace_id" | "id">,
  styling: Json,
  at: Date,
): Promise<ThemeRow> {
  const { rows } = await sql<ThemeRow>`
    with changed as (
        update page_themes set styling = ${JSON.stringify(styling)}::jsonb, updated_at = ${at}
        where workspace_id = ${theme.workspace_id} and id = ${theme.id} returning *),
      notice as (select ${tellWorkspaceChange(sql.ref("workspace_id"))} from changed)
    select changed.* from changed, notice`.execute(tx);
  return onlyRow(rows);
}

/** A new look of a template's theme. */
export interface Restyling {
  readonly styling: Json;
  readonly lookHash: string;
  readonly at: Date;
  /** Queues the drawing of the template. */
  readonly drawing: RawBuilder<unknown>;
}

/** Gives the theme of a template its new look, and queues a new thumbnail. No page has the theme. */
export async function restyleTemplate(
  tx: Db,
  theme: ThemeRow,
  { styling, lookHash, at, drawing }: Restyling,
): Promise<ThemeRow> {
  const { rows } = await sql<ThemeRow>`
    with changed as (
        update page_themes set styling = ${JSON.stringify(styling)}::jsonb, updated_at = ${at}
        where workspace_id = ${theme.workspace_id} and id = ${theme.id} returning *),
      -- Later than the change before, so that a picture of that one is not taken for a picture of this one.
      template as (
        update page_theme_templates t set look_hash = ${lookHash}, updated_at = ${at}, thumbnail_pending_update_since =
          greatest(${at}::timestamptz, t.thumbnail_pending_update_since + interval '1 millisecond')
        from changed where t.workspace_id = changed.workspace_id and t.id = changed.template_id),
      job as (select ${drawing} from changed)
    select changed.* from changed where (select count(*) from job) > 0`.execute(tx);
  return onlyRow(rows);
}
