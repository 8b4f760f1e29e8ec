import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Json, Links } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import { pageThemeTemplateTables as tables } from "../../db/templates/template-tables.ts";
import { gallery, isInGallery, usableTemplates } from "../../db/templates/usable-templates.ts";
import type { LookMedia } from "../../model/look/look-hash.ts";

/** A template that a call names by its id or, if it is public, by its slug. */
export interface Wanted {
  readonly templateId: string;
  readonly slug: string;
}

/** A template with its look. */
export interface WornTemplate {
  readonly workspace_id: string;
  readonly id: string;
  readonly styling: Json;
}

function wantedTemplate(workspaceId: string, { templateId, slug }: Wanted): RawBuilder<unknown> {
  return slug === ""
    ? usableTemplates(tables, workspaceId, [templateId])
    : sql`select s.workspace_id, s.template_id as id from ${gallery(tables)} where s.slug = ${slug} and ${isInGallery}`;
}

/** The template, if the workspace can use it. */
export async function findWorn(
  db: Db,
  workspaceId: string,
  wanted: Wanted,
): Promise<WornTemplate | undefined> {
  return (await wornTemplate(workspaceId, wanted).execute(db)).rows[0];
}

/**
 * The same for a link that is about to get its look: nobody deletes the template until the transaction ends. Undefined
 * too when it was deleted while this call waited.
 */
export async function lockWorn(
  tx: Db,
  workspaceId: string,
  wanted: Wanted,
): Promise<WornTemplate | undefined> {
  return (await sql<WornTemplate>`${wornTemplate(workspaceId, wanted)} for key share of t, p`.execute(tx))
    .rows[0];
}

function wornTemplate(workspaceId: string, wanted: Wanted): RawBuilder<WornTemplate> {
  return sql<WornTemplate>`
    select t.workspace_id, t.id, p.styling from (${wantedTemplate(workspaceId, wanted)}) source
    join page_theme_templates t on t.workspace_id = source.workspace_id and t.id = source.id
    join page_themes p on p.workspace_id = t.workspace_id and p.id = t.look_id`;
}

export async function isLinkThere(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const { rows } =
    await sql`select from living_links where workspace_id = ${workspaceId} and id = ${id}`.execute(db);
  return rows.length > 0;
}

/** A link's look, and what is in its media files. */
export interface LinkLook extends LookMedia {
  readonly styling: Json | null;
}

export async function findLinkLook(
  db: Db,
  workspaceId: string,
  linkId: string,
): Promise<LinkLook | undefined> {
  const { rows } = await sql<LinkLook>`
    select p.styling,
      (select sha256 from media m where m.workspace_id = ${workspaceId}
        and m.id = (p.styling ->> 'canvasCoverId')::uuid) as cover,
      (select sha256 from media m where m.workspace_id = ${workspaceId}
        and m.id = (p.styling ->> 'badgeId')::uuid) as badge
    from living_links l left join page_themes p on p.workspace_id = l.workspace_id and p.id = l.page_theme_id
    where l.workspace_id = ${workspaceId} and l.id = ${linkId}`.execute(db);
  return rows[0];
}

/**
 * The template of a look: the oldest of the workspace's own, or else of the gallery. Served by
 * page_theme_templates_look_idx and page_theme_templates_published_look_idx.
 */
export async function findTwin(db: Db, workspaceId: string, lookHash: string): Promise<string | undefined> {
  const own = await sql<{ id: string }>`select id from page_theme_templates
    where workspace_id = ${workspaceId} and look_hash = ${lookHash} order by created_at, id limit 1`.execute(
    db,
  );
  if (own.rows[0] !== undefined) return own.rows[0].id;
  const { rows } = await sql<{ id: string }>`
    select t.id from ${gallery(tables)}
    join page_theme_templates t on t.workspace_id = s.workspace_id and t.id = s.template_id
    where t.published_at is not null and t.look_hash = ${lookHash} and ${isInGallery}
    order by t.created_at, t.id limit 1`.execute(db);
  return rows[0]?.id;
}

/** A link that gets a look. */
export type DressedLink = Pick<
  Selectable<Links>,
  "workspace_id" | "id" | "shortlink" | "page_theme_id" | "page_theme_template_id"
> & {
  readonly domain_name: string | null;
  /** The theme, when it serves no other link. */
  readonly own_theme_id: string | null;
};

/** A living link, locked until the transaction ends. */
export async function lockLink(tx: Db, workspaceId: string, id: string): Promise<DressedLink | undefined> {
  await sql`select from links where workspace_id = ${workspaceId} and id = ${id} for update`.execute(tx);
  const { rows } = await sql<DressedLink>`
    select l.workspace_id, l.id, l.shortlink, l.page_theme_id, l.page_theme_template_id, d.name as domain_name,
      case when not exists (select from links o where o.workspace_id = l.workspace_id
        and o.page_theme_id = l.page_theme_id and o.id <> l.id and o.deleted_at is null)
      then l.page_theme_id end as own_theme_id
    from living_links l left join custom_domains d on d.workspace_id = l.workspace_id and d.id = l.custom_domain_id
    where l.workspace_id = ${workspaceId} and l.id = ${id}`.execute(tx);
  return rows[0];
}
