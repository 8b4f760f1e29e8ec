import { type RawBuilder, sql } from "kysely";
import { noWorkspace } from "../../model/no-workspace.ts";
import type { TemplateTables } from "./template-tables.ts";

/**
 * Whether slug `s` of workspace `w` is in the gallery: the slug of a built-in template, or published by a public
 * workspace.
 */
export const isInGallery = sql<boolean>`s.published_at is not null
  and (s.workspace_id = ${noWorkspace} or (w.published_at is not null and w.deleted_at is null))`;

/** The slugs of the gallery's templates, joined with their workspaces, for `isInGallery`. */
export function gallery({ slugs }: TemplateTables): RawBuilder<unknown> {
  return sql`${sql.table(slugs)} s left join workspaces w on w.id = s.workspace_id`;
}

/**
 * A statement that takes a template from links that were made from it, in whichever workspaces they are: from all, or from
 * so many. Served by links_published_template_idx, and by links_published_page_theme_template_idx.
 */
export function forgetTemplate(
  { ofLinks }: TemplateTables,
  templateId: string,
  most?: number,
): RawBuilder<unknown> {
  const column = sql.ref(ofLinks);
  return sql`
    update links l set ${column} = null
    from (select workspace_id, id from links where ${column} = ${templateId}
      order by workspace_id, id ${most === undefined ? sql.raw("") : sql`limit ${most}`} for no key update) as made
    where l.workspace_id = made.workspace_id and l.id = made.id`;
}

/**
 * A query for the workspaces and ids of those of the templates that the workspace can use: its own, built-in ones, and
 * ones that a public workspace has published.
 */
export function usableTemplates(
  tables: TemplateTables,
  workspaceId: string,
  ids: readonly string[],
): RawBuilder<unknown> {
  return sql`select workspace_id, id from ${sql.table(tables.templates)} where workspace_id = ${workspaceId}
      and id = any(${ids}::uuid[])
    union select s.workspace_id, s.template_id from ${gallery(tables)}
    where s.template_id = any(${ids}::uuid[]) and ${isInGallery}`;
}
