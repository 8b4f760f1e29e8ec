import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Json, QrcodeDesigns } from "../../../gen/database.ts";
import { fileCheckOf } from "../../db/file-checks.ts";
import type { Db } from "../../db/open.ts";
import { qrcodeTemplateTables } from "../../db/templates/template-tables.ts";
import { gallery, isInGallery, usableTemplates } from "../../db/templates/usable-templates.ts";
import type { DesignOptions } from "../../model/look/design-options.ts";
import { noWorkspace } from "../../model/no-workspace.ts";

/** A design with the address of its link. */
export interface DesignRow extends Selectable<QrcodeDesigns> {
  readonly shortlink: string | null;
  readonly domain_name: string | null;
}

const designOf = sql.raw(`q.*, l.shortlink, d.name as domain_name from qrcode_designs q
  left join links l on l.workspace_id = q.workspace_id and l.id = q.link_id
  left join custom_domains d on d.workspace_id = l.workspace_id and d.id = l.custom_domain_id`);

/** A design of the workspace, or one that belongs to no link or template yet. */
export async function findDesign(db: Db, workspaceId: string, id: string): Promise<DesignRow | undefined> {
  const { rows } = await sql<DesignRow>`select ${designOf}
    where q.workspace_id in (${workspaceId}, ${noWorkspace}) and q.id = ${id}`.execute(db);
  return rows[0];
}

/** Makes a design that belongs to no link or template yet. */
export async function insertDesign(
  db: Db,
  { id, options, at }: { readonly id: string; readonly options: DesignOptions; readonly at: Date },
): Promise<DesignRow> {
  const values = {
    workspace_id: noWorkspace,
    id,
    options: JSON.stringify(options),
    created_at: at,
    updated_at: at,
  };
  const row = await db.insertInto("qrcode_designs").values(values).returningAll().executeTakeFirstOrThrow();
  return { ...row, shortlink: null, domain_name: null };
}

export interface Restyling {
  readonly before: DesignRow;
  readonly options: DesignOptions;
  readonly at: Date;
  /** The template that the look comes from. The link remembers it. */
  readonly templateId?: string;
  /** Queues the drawing of the link or template that shows the design. Undefined when none does. */
  readonly drawing: RawBuilder<unknown> | undefined;
}

/**
 * Changes the look of a design and queues a new drawing of the link or template that shows it, in one statement. False
 * when the design has changed since `before`; nothing is written then.
 */
export async function restyleDesign(db: Db, restyling: Restyling): Promise<boolean> {
  const { before, options, at, templateId, drawing } = restyling;
  const unchanged = JSON.stringify(before.options);
  const { rows } = await sql<{ restyled: boolean }>`
    with made as (
        update qrcode_designs set options = ${JSON.stringify(options)}::jsonb, updated_at = ${at}
        where workspace_id = ${before.workspace_id} and id = ${before.id} and options = ${unchanged}::jsonb
          and link_id is not distinct from ${before.link_id}::uuid
          and template_id is not distinct from ${before.template_id}::uuid
        returning workspace_id, link_id, template_id),
      -- Later than the change before, so that an image of that one is not taken for an image of this one.
      link as (
        update links l set qrcode_pending_update_since =
            greatest(${at}::timestamptz, l.qrcode_pending_update_since + interval '1 millisecond')
          ${templateId === undefined ? sql.raw("") : sql`, qrcode_template_id = ${templateId}, updated_at = ${at}`}
        from made where l.workspace_id = made.workspace_id and l.id = made.link_id),
      template as (
        update qrcode_templates t set thumbnail_pending_update_since =
            greatest(${at}::timestamptz, t.thumbnail_pending_update_since + interval '1 millisecond')
        from made where t.workspace_id = made.workspace_id and t.id = made.template_id),
      picture as (${fileCheckOf(pictureOf(before.options, options), at)}),
      job as (select ${drawing ?? sql.raw("null")} from made)
    select (select count(*) from job) > 0 as restyled`.execute(db);
  return rows[0]?.restyled === true;
}

/** The picture that a design no longer has, as a file that may have become unused. */
function pictureOf(before: Json, after: DesignOptions): RawBuilder<unknown> {
  const key = sql`${JSON.stringify(before)}::jsonb ->> 'centralImageKey'`;
  return sql`select ${noWorkspace}::uuid, ${key}, null::uuid from made
    where ${key} is distinct from ${JSON.stringify(after)}::jsonb ->> 'centralImageKey' and ${key} is not null`;
}

export type DesignDeletion = "deleted" | "in use" | "missing";

/** Deletes a design that nothing uses, in one statement. */
export async function deleteDesign(
  db: Db,
  workspaceId: string,
  id: string,
  at: Date,
): Promise<DesignDeletion> {
  const picture = sql`select ${noWorkspace}::uuid, options ->> 'centralImageKey', null::uuid from gone
    where options ->> 'centralImageKey' is not null`;
  const { rows } = await sql<{ outcome: DesignDeletion }>`
    with found as (
        select workspace_id, id, link_id is not null or template_id is not null as used from qrcode_designs
        where workspace_id in (${workspaceId}, ${noWorkspace}) and id = ${id} for update),
      gone as (delete from qrcode_designs q using found
        where q.workspace_id = found.workspace_id and q.id = found.id and not found.used returning q.options),
      checked as (${fileCheckOf(picture, at)})
    select case when used then 'in use' else 'deleted' end as outcome from found`.execute(db);
  return rows[0]?.outcome ?? "missing";
}

export interface Application {
  /** The link's design. Undefined when there is no such link. */
  readonly design: DesignRow | undefined;
  readonly qrcode_template_id: string | null;
  readonly template: { readonly id: string; readonly options: DesignOptions } | undefined;
}

/** Everything that a call needs to give a template's look to a link. The template is named by its id or by its slug. */
export async function findApplication(
  db: Db,
  workspaceId: string,
  wanted: { readonly linkId: string; readonly templateId: string; readonly slug: string },
): Promise<Application> {
  const designs = await sql<DesignRow & { qrcode_template_id: string | null }>`
    select l.qrcode_template_id, ${designOf}
    where q.workspace_id = ${workspaceId} and q.id = (select qrcode_design_id from living_links
      where workspace_id = ${workspaceId} and id = ${wanted.linkId})`.execute(db);
  const source =
    wanted.slug === ""
      ? usableTemplates(qrcodeTemplateTables, workspaceId, [wanted.templateId])
      : sql`select s.workspace_id, s.template_id as id from ${gallery(qrcodeTemplateTables)} where s.slug = ${wanted.slug} and ${isInGallery}`;
  const templates = await sql<{ id: string; options: DesignOptions }>`
    select t.id, q.options from (${source}) source
    join qrcode_templates t on t.workspace_id = source.workspace_id and t.id = source.id
    join qrcode_designs q on q.workspace_id = t.workspace_id and q.id = t.look_id`.execute(db);
  const [found] = designs.rows;
  const { qrcode_template_id = null, ...design } = found ?? {};
  return {
    design: found === undefined ? undefined : (design as DesignRow),
    qrcode_template_id,
    template: templates.rows[0],
  };
}
