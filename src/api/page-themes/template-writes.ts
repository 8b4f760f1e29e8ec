import { sql } from "kysely";
import type { Json } from "../../../gen/database.ts";
import { tellLinkChange } from "../../db/channels.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import type { ThemeRow } from "../resources/page-themes/theme-queries.ts";
import type { DressedLink } from "./template-queries.ts";

/** The theme that a link gets, and the template that it is a copy of. */
export interface Dress {
  readonly templateId: string;
  readonly at: Date;
}

/** Gives a locked link a new theme, and tells the scan runtime. */
export async function dressInNewTheme(
  tx: Db,
  link: DressedLink,
  { themeId, styling, templateId, at }: Dress & { readonly themeId: string; readonly styling: Json },
): Promise<ThemeRow> {
  const { workspace_id, id } = link;
  const { rows } = await sql<ThemeRow>`
    with made as (
        insert into page_themes (workspace_id, id, styling, is_applied, created_at, updated_at)
        values (${workspace_id}, ${themeId}, ${JSON.stringify(styling)}::jsonb, true, ${at}, ${at}) returning *),
      dressed as (
        update links set page_theme_id = ${themeId}, page_theme_template_id = ${templateId}, updated_at = ${at}
        where workspace_id = ${workspace_id} and id = ${id} returning shortlink),
      notice as (select ${tellLinkChange(link.domain_name ?? "", sql.ref("shortlink"))} from dressed)
    select made.* from made, notice`.execute(tx);
  return onlyRow(rows);
}

/** Notes on a locked link which template its theme is a copy of. */
export async function noteTemplate(tx: Db, link: DressedLink, { templateId, at }: Dress): Promise<void> {
  await sql`update links set page_theme_template_id = ${templateId}, updated_at = ${at}
    where workspace_id = ${link.workspace_id} and id = ${link.id}`.execute(tx);
}
