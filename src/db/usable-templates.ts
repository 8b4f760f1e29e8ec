import { type RawBuilder, sql } from "kysely";
import { noWorkspace } from "../model/no-workspace.ts";

/**
 * Whether slug `s` of workspace `w` is in the gallery: the slug of a built-in template, or published by a public
 * workspace.
 */
export const isInGallery = sql<boolean>`s.published_at is not null
  and (s.workspace_id = ${noWorkspace} or (w.published_at is not null and w.deleted_at is null))`;

/** The slugs of the gallery's templates, joined with their workspaces, for `isInGallery`. */
export const gallery = sql.raw("qrcode_template_slugs s left join workspaces w on w.id = s.workspace_id");

/**
 * A query for the workspaces and ids of those of the templates that the workspace can use: its own, built-in ones, and
 * ones that a public workspace has published.
 */
export function usableTemplates(workspaceId: string, ids: readonly string[]): RawBuilder<unknown> {
  return sql`select workspace_id, id from qrcode_templates where workspace_id = ${workspaceId}
      and id = any(${ids}::uuid[])
    union select s.workspace_id, s.template_id from ${gallery}
    where s.template_id = any(${ids}::uuid[]) and ${isInGallery}`;
}
