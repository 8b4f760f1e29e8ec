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
 * A query for the workspace and id of a template, if the workspace can use it: its own, a built-in one, or one that a
 * public workspace has published. Empty when there is none, or `id` is null.
 */
export function usableTemplate(workspaceId: string, id: string | null): RawBuilder<unknown> {
  return sql`select workspace_id, id from qrcode_templates where workspace_id = ${workspaceId} and id = ${id}::uuid
    union select s.workspace_id, s.template_id from ${gallery}
    where s.template_id = ${id}::uuid and ${isInGallery}`;
}
