import { type RawBuilder, type Selectable, sql } from "kysely";
import type { QrcodeTemplates } from "../../../gen/database.ts";
import { fileCheckOf } from "../../db/file-checks.ts";
import { type Db, violates } from "../../db/open.ts";
import { forgetTemplate } from "../../db/usable-templates.ts";
import { fail } from "../../lib/errors.ts";
import type { DesignOptions } from "../../model/look/design-options.ts";
import { noWorkspace } from "../../model/no-workspace.ts";

type Row = Selectable<QrcodeTemplates>;

/** What a new template consists of, and the expression that queues its thumbnail. */
export interface NewTemplate
  extends Pick<
    Row,
    "workspace_id" | "id" | "name" | "description" | "tags" | "learn_more" | "faq" | "duplicated_from"
  > {
  readonly at: Date;
  /** An existing design that no link or template uses, or a new one. */
  readonly design: { readonly id: string; readonly options: DesignOptions | undefined };
  readonly drawing: RawBuilder<unknown>;
}

/**
 * Makes a template with its design, in one statement. Undefined when the existing design is missing, or is already used
 * by a link or template; nothing is written then.
 */
export async function insertTemplate(db: Db, template: NewTemplate): Promise<Row | undefined> {
  const { workspace_id: workspaceId, id, at, design } = template;
  const source =
    design.options === undefined
      ? sql`delete from qrcode_designs where workspace_id in (${workspaceId}, ${noWorkspace}) and id = ${design.id}
          and link_id is null and template_id is null returning id, options, created_at`
      : sql`select ${design.id}::uuid as id, ${JSON.stringify(design.options)}::jsonb as options,
          ${at}::timestamptz as created_at`;
  const { rows } = await sql<Row>`
    with source as (${source}),
      design as (
        insert into qrcode_designs (workspace_id, id, template_id, options, created_at, updated_at)
        select ${workspaceId}::uuid, id, ${id}::uuid, options, created_at, ${at}::timestamptz from source),
      made as (
        insert into qrcode_templates (workspace_id, id, name, description, tags, learn_more, faq, duplicated_from,
          qrcode_design_id, thumbnail_pending_update_since, created_at, updated_at)
        select ${workspaceId}::uuid, ${id}::uuid, ${template.name}, ${template.description}, ${template.tags},
          ${template.learn_more}, ${template.faq}, ${template.duplicated_from}::uuid, source.id, ${at}::timestamptz,
          ${at}::timestamptz, ${at}::timestamptz
        from source returning *),
      job as (select ${template.drawing} from made)
    select made.* from made where (select count(*) from job) > 0`.execute(db);
  return rows[0];
}

/** Whether the workspace can see a design. It tells why an existing design cannot become a template's. */
export async function isDesignThere(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const { rows } = await sql`select from qrcode_designs
    where workspace_id in (${workspaceId}, ${noWorkspace}) and id = ${id}`.execute(db);
  return rows.length > 0;
}

/** A template of the workspace or a built-in one, and whether its workspace is public. */
export type LockedTemplate = Row & { readonly is_workspace_public: boolean };

/**
 * Locks a template in the caller's transaction. Built-in templates are found too, so that the caller can refuse them.
 */
export async function lockTemplate(
  tx: Db,
  workspaceId: string,
  id: string,
): Promise<LockedTemplate | undefined> {
  const { rows } = await sql<LockedTemplate>`select t.*, exists (select from workspaces w
        where w.id = t.workspace_id and w.published_at is not null) as is_workspace_public
    from qrcode_templates t where t.workspace_id in (${workspaceId}, ${noWorkspace}) and t.id = ${id}
    for no key update of t`.execute(tx);
  return rows[0];
}

/** The fields that describe a template and that a call may change. */
export type Described = Pick<Row, "name" | "slug" | "description" | "tags" | "learn_more" | "faq">;

/** Writes the description of a locked template. Throws SLUG_TAKEN when another template has the slug. */
export async function describeTemplate(tx: Db, before: Row, after: Described, at: Date): Promise<Row> {
  if (after.slug !== before.slug) await claimSlug(tx, before, after.slug);
  return tx
    .updateTable("qrcode_templates")
    .set({ ...after, updated_at: at })
    .where("workspace_id", "=", before.workspace_id)
    .where("id", "=", before.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function claimSlug(tx: Db, { workspace_id, id, created_at }: Row, slug: string | null): Promise<void> {
  if (slug === null) {
    await tx.deleteFrom("qrcode_template_slugs").where("template_id", "=", id).execute();
    return;
  }
  try {
    await tx
      .insertInto("qrcode_template_slugs")
      .values({ slug, workspace_id, template_id: id, created_at })
      .onConflict((conflict) =>
        conflict.constraint("qrcode_template_slugs_template_key").doUpdateSet({ slug }),
      )
      .execute();
  } catch (error) {
    if (violates(error, "qrcode_template_slugs_pkey"))
      throw fail("ALREADY_EXISTS", "SLUG_TAKEN", `slug ${slug} is in use: choose another`, {
        metadata: { slug },
      });
    throw error;
  }
}

/** Puts a locked template into the gallery. */
export async function publishTemplate(tx: Db, { workspace_id, id }: Row, at: Date): Promise<Row> {
  await tx
    .updateTable("qrcode_template_slugs")
    .set({ published_at: at })
    .where("template_id", "=", id)
    .execute();
  return tx
    .updateTable("qrcode_templates")
    .set({ published_at: at, updated_at: at })
    .where("workspace_id", "=", workspace_id)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Deletes a locked template with its design. Links that were made from it forget it, including those of other
 * workspaces once it was published.
 */
export async function deleteTemplate(tx: Db, { workspace_id, id }: Row, at: Date): Promise<void> {
  await forgetTemplate(id).execute(tx);
  const images = sql`select workspace_id, thumbnail_key, id from gone where thumbnail_key is not null
    union all select ${noWorkspace}::uuid, picture_key, null::uuid from design where picture_key is not null`;
  await sql`
    with gone as (delete from qrcode_templates where workspace_id = ${workspace_id} and id = ${id}
        returning workspace_id, id, qrcode_design_id, thumbnail_key),
      design as (delete from qrcode_designs q using gone
        where q.workspace_id = gone.workspace_id and q.id = gone.qrcode_design_id
        returning q.options ->> 'centralImageKey' as picture_key),
      slug as (delete from qrcode_template_slugs s using gone where s.template_id = gone.id)
    ${fileCheckOf(images, at)}`.execute(tx);
}
