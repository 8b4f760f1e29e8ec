import { sql } from "kysely";
import { fileCheckOf } from "../../../db/file-checks.ts";
import { type Db, violates } from "../../../db/open.ts";
import type { TemplateTables } from "../../../db/templates/template-tables.ts";
import { forgetTemplate } from "../../../db/templates/usable-templates.ts";
import { fail } from "../../../lib/errors.ts";
import { noWorkspace } from "../../../model/no-workspace.ts";
import type { StoredTemplate } from "./queries.ts";

/** A template of the workspace or a built-in one, and whether its workspace is public. */
export type LockedTemplate = StoredTemplate & { readonly is_workspace_public: boolean };

/**
 * Locks a template in the caller's transaction. Built-in templates are found too, so that the caller can refuse them.
 */
export async function lockTemplate(
  tx: Db,
  { templates }: TemplateTables,
  workspaceId: string,
  id: string,
): Promise<LockedTemplate | undefined> {
  const { rows } = await sql<LockedTemplate>`select t.*, exists (select from workspaces w
        where w.id = t.workspace_id and w.published_at is not null) as is_workspace_public
    from ${sql.table(templates)} t where t.workspace_id in (${workspaceId}, ${noWorkspace}) and t.id = ${id}
    for no key update of t`.execute(tx);
  return rows[0];
}

/** The fields that describe a template and that a call may change. */
export type Described = Pick<StoredTemplate, "name" | "slug" | "description" | "tags" | "learn_more" | "faq">;

/** Writes the description of a locked template. Throws SLUG_TAKEN when another template has the slug. */
export async function describeTemplate(
  tx: Db,
  tables: TemplateTables,
  before: StoredTemplate,
  { at, ...after }: Described & { readonly at: Date },
): Promise<void> {
  if (after.slug !== before.slug) await claimSlug(tx, tables, before, after.slug);
  await sql`update ${sql.table(tables.templates)} set name = ${after.name},
      slug = ${after.slug}, description = ${after.description}, tags = ${after.tags},
      learn_more = ${after.learn_more}, faq = ${after.faq}, updated_at = ${at}
    where workspace_id = ${before.workspace_id} and id = ${before.id}`.execute(tx);
}

async function claimSlug(
  tx: Db,
  { slugs }: TemplateTables,
  { workspace_id, id, created_at }: StoredTemplate,
  slug: string | null,
): Promise<void> {
  const table = sql.table(slugs);
  if (slug === null) {
    await sql`delete from ${table} where template_id = ${id}`.execute(tx);
    return;
  }
  try {
    await sql`insert into ${table} (slug, workspace_id, template_id, created_at)
      values (${slug}, ${workspace_id}, ${id}, ${created_at})
      on conflict (template_id) do update set slug = excluded.slug`.execute(tx);
  } catch (error) {
    if (violates(error, `${slugs}_pkey`))
      throw fail("ALREADY_EXISTS", "SLUG_TAKEN", `slug ${slug} is in use: choose another`, {
        metadata: { slug },
      });
    throw error;
  }
}

/** Puts a locked template into the gallery. */
export async function publishTemplate(
  tx: Db,
  { templates, slugs }: TemplateTables,
  { workspace_id, id }: StoredTemplate,
  at: Date,
): Promise<void> {
  await sql`
    with shown as (update ${sql.table(slugs)} set published_at = ${at} where template_id = ${id})
    update ${sql.table(templates)} set published_at = ${at}, updated_at = ${at}
    where workspace_id = ${workspace_id} and id = ${id}`.execute(tx);
}

/**
 * Deletes a locked template with its look. Links that were made from it forget it, including those of other workspaces
 * once it was published.
 */
export async function deleteTemplate(
  tx: Db,
  tables: TemplateTables,
  { workspace_id, id }: StoredTemplate,
  at: Date,
): Promise<void> {
  await forgetTemplate(tables, id).execute(tx);
  // Only designs have a picture of their own; the media files of themes stay.
  const images = sql`select workspace_id, thumbnail_key, id from gone where thumbnail_key is not null
    union all select ${noWorkspace}::uuid, picture_key, null::uuid from look where picture_key is not null`;
  await sql`
    with gone as (delete from ${sql.table(tables.templates)} where workspace_id = ${workspace_id} and id = ${id}
        returning workspace_id, id, look_id, thumbnail_key),
      look as (delete from ${sql.table(tables.looks)} q using gone
        where q.workspace_id = gone.workspace_id and q.id = gone.look_id
        returning to_jsonb(q) #>> '{options,centralImageKey}' as picture_key),
      slug as (delete from ${sql.table(tables.slugs)} s using gone where s.template_id = gone.id)
    ${fileCheckOf(images, at)}`.execute(tx);
  // Again: the deletion waits for calls that have locked the template to give it to a link.
  await forgetTemplate(tables, id).execute(tx);
}
