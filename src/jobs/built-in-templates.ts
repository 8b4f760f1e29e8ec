import { sql } from "kysely";
import { v5 } from "uuid";
import type { Db } from "../db/open.ts";
import { defaultDesignOptions } from "../model/look/design-options.ts";
import { noWorkspace } from "../model/no-workspace.ts";
import { type BuiltInDesign, builtInDesigns } from "../qr/designs/built-in-designs.ts";
import { storeBuiltInThemes } from "./built-in-themes.ts";
import { jobCall } from "./queue.ts";

// Ids derive from slugs, so that every installation gives a template the same id.
const idSpace = "5f2b8f0e-3c64-4d0e-9a57-1f6f0c7f7c11";

/** Older than any record of a user; the first template of the list is the newest. */
const firstMadeAt = Date.UTC(2026, 0, 1);

/** Brings the built-in templates of codes and of pages up to date; writes nothing when they are. */
export async function storeBuiltInTemplates(db: Db, now: Date): Promise<void> {
  await storeBuiltInThemes(db, now);
  const stored = await storedTemplates(db);
  for (const [index, template] of builtInDesigns.entries()) {
    const options = { ...defaultDesignOptions, ...template.options };
    const wanted = contentOf({ ...template, options });
    const found = stored.get(template.slug);
    if (found === undefined || contentOf(found) !== wanted)
      await storeTemplate(db, { ...template, options }, new Date(firstMadeAt - index * 1_000), now);
  }
}

async function storedTemplates(db: Db): Promise<Map<string | null, BuiltInDesign>> {
  const { rows } = await sql<BuiltInDesign>`select t.slug, t.name, t.description, q.options
    from qrcode_templates t
    join qrcode_designs q on q.workspace_id = t.workspace_id and q.id = t.look_id
    where t.workspace_id = ${noWorkspace}`.execute(db);
  return new Map(rows.map((row) => [row.slug, row]));
}

/** Everything that may change about a template, in a fixed order; the database orders keys differently. */
function contentOf({ name, description, options }: Omit<BuiltInDesign, "slug">): string {
  const sorted = (_: string, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return JSON.stringify([name, description, options], sorted);
}

// Processes that start at the same time write the same values.
async function storeTemplate(db: Db, template: BuiltInDesign, madeAt: Date, now: Date): Promise<void> {
  const [templateId, designId] = [v5(template.slug, idSpace), v5(`${template.slug} design`, idSpace)];
  await sql`
    with design as (
        insert into qrcode_designs (workspace_id, id, template_id, options, created_at, updated_at)
        values (${noWorkspace}, ${designId}, ${templateId}, ${JSON.stringify(template.options)}::jsonb, ${madeAt}, ${now})
        on conflict on constraint qrcode_designs_pkey do update set options = excluded.options, updated_at = ${now}),
      slug as (
        insert into qrcode_template_slugs (slug, workspace_id, template_id, published_at, created_at)
        values (${template.slug}, ${noWorkspace}, ${templateId}, ${madeAt}, ${madeAt})
        on conflict do nothing),
      template as (
        insert into qrcode_templates (workspace_id, id, name, description, slug, look_id, published_at,
          thumbnail_pending_update_since, created_at, updated_at)
        values (${noWorkspace}, ${templateId}, ${template.name}, ${template.description}, ${template.slug}, ${designId},
          ${madeAt}, ${now}, ${madeAt}, ${now})
        on conflict on constraint qrcode_templates_pkey do update set name = excluded.name,
          description = excluded.description, updated_at = ${now}, thumbnail_pending_update_since = ${now})
    select ${jobCall("render-thumbnail", { workspaceId: noWorkspace, templateId })}`.execute(db);
}
