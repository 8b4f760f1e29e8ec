import { type RawBuilder, sql } from "kysely";
import type { Json } from "../../../gen/database.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import type { StoredTemplate } from "../resources/templates/queries.ts";

/** What a new template consists of, and the expression that queues its thumbnail. */
export interface NewTemplate
  extends Pick<
    StoredTemplate,
    | "workspace_id"
    | "id"
    | "look_id"
    | "name"
    | "description"
    | "tags"
    | "learn_more"
    | "faq"
    | "duplicated_from"
  > {
  readonly at: Date;
  readonly styling: Json;
  readonly lookHash: string;
  readonly drawing: RawBuilder<unknown>;
}

/** Makes a template with a theme of its own, in one statement. */
export async function insertTemplate(db: Db, template: NewTemplate): Promise<void> {
  const { workspace_id, id, look_id, at, styling } = template;
  const { rows } = await sql<{ queued: bigint }>`
    with theme as (
        insert into page_themes (workspace_id, id, template_id, styling, created_at, updated_at)
        values (${workspace_id}, ${look_id}, ${id}, ${JSON.stringify(styling)}::jsonb, ${at}, ${at})),
      made as (
        insert into page_theme_templates (workspace_id, id, name, description, tags, learn_more, faq, duplicated_from,
          look_id, look_hash, thumbnail_pending_update_since, created_at, updated_at)
        values (${workspace_id}, ${id}, ${template.name}, ${template.description}, ${template.tags},
          ${template.learn_more}, ${template.faq}, ${template.duplicated_from}, ${look_id}, ${template.lookHash}, ${at},
          ${at}, ${at})
        returning id),
      job as (select ${template.drawing} from made)
    select count(*) as queued from job`.execute(db);
  if (onlyRow(rows).queued !== 1n) throw new Error("the thumbnail of a new template was not queued");
}
