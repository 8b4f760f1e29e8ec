import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { DesignOptions } from "../../model/look/design-options.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import type { StoredTemplate } from "../resources/templates/queries.ts";

/** What a new template consists of, and the expression that queues its thumbnail. */
export interface NewTemplate
  extends Pick<
    StoredTemplate,
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
export async function insertTemplate(db: Db, template: NewTemplate): Promise<StoredTemplate | undefined> {
  const { workspace_id: workspaceId, id, at, design } = template;
  const source =
    design.options === undefined
      ? sql`delete from qrcode_designs where workspace_id in (${workspaceId}, ${noWorkspace}) and id = ${design.id}
          and link_id is null and template_id is null returning id, options, created_at`
      : sql`select ${design.id}::uuid as id, ${JSON.stringify(design.options)}::jsonb as options,
          ${at}::timestamptz as created_at`;
  const { rows } = await sql<StoredTemplate>`
    with source as (${source}),
      design as (
        insert into qrcode_designs (workspace_id, id, template_id, options, created_at, updated_at)
        select ${workspaceId}::uuid, id, ${id}::uuid, options, created_at, ${at}::timestamptz from source),
      made as (
        insert into qrcode_templates (workspace_id, id, name, description, tags, learn_more, faq, duplicated_from,
          look_id, thumbnail_pending_update_since, created_at, updated_at)
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
