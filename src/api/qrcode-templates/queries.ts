import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Json, QrcodeTemplates } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import { gallery, isInGallery, usableTemplates } from "../../db/usable-templates.ts";
import { withinAnswer } from "../../db/within-answer.ts";
import type { Page } from "../../lib/paging/page.ts";
import type { QrcodeDesignRow } from "../resources/qrcode-design.ts";
import type { PublicWorkspaceRow } from "../resources/workspace.ts";

/** A template, with its design when the request names it. */
export interface TemplateRow extends Selectable<QrcodeTemplates> {
  /** How many living links of the caller's workspace were made from it. */
  readonly usage_count: bigint;
  readonly design?: QrcodeDesignRow | null;
}

/**
 * A template as everyone sees it, with its workspace when the request names it. Built-in templates have no workspace.
 */
export interface PublicRow extends Selectable<QrcodeTemplates> {
  readonly workspace?: PublicWorkspaceRow | null;
}

export const designColumn = sql.raw(`, (select to_jsonb(q) from qrcode_designs q
  where q.workspace_id = t.workspace_id and q.id = t.qrcode_design_id) as design`);
const workspaceColumn = sql.raw(", to_jsonb(w) as workspace");
const nothing = sql.raw("");

/** How many living links of the workspace use each template. Served by links_qrcode_template_idx. */
function usageColumn(workspaceId: string): RawBuilder<unknown> {
  return sql`, (select count(*) from living_links l
    where l.workspace_id = ${workspaceId} and l.qrcode_template_id = t.id) as usage_count`;
}

/** How many living links of the template's own workspace were made from it. */
export async function countUsage(
  db: Db,
  { workspace_id, id }: Pick<Selectable<QrcodeTemplates>, "workspace_id" | "id">,
): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from living_links
    where workspace_id = ${workspace_id} and qrcode_template_id = ${id}`.execute(db);
  return rows[0]?.count ?? 0n;
}

/** A template that the workspace can use. */
export async function findTemplate(
  db: Db,
  workspaceId: string,
  id: string,
  { withDesign }: { readonly withDesign: boolean },
): Promise<TemplateRow | undefined> {
  const { rows } =
    await sql<TemplateRow>`select t.* ${usageColumn(workspaceId)} ${withDesign ? designColumn : nothing}
    from (${usableTemplates(workspaceId, [id])}) usable
    join qrcode_templates t on t.workspace_id = usable.workspace_id and t.id = usable.id`.execute(db);
  return rows[0];
}

/** What lists read beside a template: how many bytes its texts and embedded objects have. */
export interface Sized {
  readonly bytes: number;
}

const newestFirst = sql.raw("page.created_at desc, page.id desc");
/** The bytes of a template in a list, as `withinAnswer` counts them. */
export function templateBytes(withDesign: boolean): RawBuilder<unknown> {
  return withDesign ? bytesWithDesign : bytesWithout;
}

const ownBytes = `octet_length(page.name) + octet_length(page.description) + octet_length(page.tags)
  + octet_length(page.learn_more) + octet_length(page.faq)`;
const bytesWithout = sql.raw(ownBytes);
const bytesWithDesign = sql.raw(`${ownBytes} + coalesce(octet_length(page.design::text), 0)`);
const bytesWithWorkspace = sql.raw(`${ownBytes} + coalesce(octet_length(page.workspace::text), 0)`);

export interface TemplateFilter {
  readonly workspaceId: string;
  readonly search: string;
}

/** The workspace's own templates, newest first, one more row than the page. Served by qrcode_templates_page_idx. */
export async function listTemplates(
  db: Db,
  { workspaceId, search, withDesign }: TemplateFilter & { readonly withDesign: boolean },
  { size, after }: Page<"time">,
): Promise<(TemplateRow & Sized)[]> {
  const beyond = after ? sql`and (t.created_at, t.id) < (${after.key}, ${after.id}::uuid)` : nothing;
  const page = sql`select t.* ${usageColumn(workspaceId)} ${withDesign ? designColumn : nothing}
    from qrcode_templates t where t.workspace_id = ${workspaceId} and ${matches(search)} ${beyond}
    order by t.created_at desc, t.id desc limit ${size + 1}`;
  const { rows } = await sql<
    TemplateRow & Sized
  >`${withinAnswer(page, { bytes: templateBytes(withDesign), order: newestFirst })}`.execute(db);
  return rows;
}

export async function countTemplates(db: Db, { workspaceId, search }: TemplateFilter): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from qrcode_templates t
    where t.workspace_id = ${workspaceId} and ${matches(search)}`.execute(db);
  return rows[0]?.count ?? 0n;
}

/** The gallery, newest first, one more row than the page. Served by qrcode_template_slugs_gallery_idx. */
export async function listGallery(
  db: Db,
  filter: { readonly workspaceId: string; readonly search: string; readonly withWorkspace: boolean },
  { size, after }: Page<"time">,
): Promise<(PublicRow & Sized)[]> {
  const beyond = after ? sql`and (s.created_at, s.template_id) < (${after.key}, ${after.id}::uuid)` : nothing;
  const owned = filter.workspaceId === "" ? nothing : sql`and s.workspace_id = ${filter.workspaceId}`;
  const page = sql`select t.* ${filter.withWorkspace ? workspaceColumn : nothing}
    from ${gallery} join qrcode_templates t on t.workspace_id = s.workspace_id and t.id = s.template_id
    where ${isInGallery} and ${matches(filter.search)} ${owned} ${beyond}
    order by s.created_at desc, s.template_id desc limit ${size + 1}`;
  const bytes = filter.withWorkspace ? bytesWithWorkspace : bytesWithout;
  const { rows } = await sql<PublicRow & Sized>`${withinAnswer(page, { bytes, order: newestFirst })}`.execute(
    db,
  );
  return rows;
}

/** A template of the gallery, and its look. */
export async function findInGallery(
  db: Db,
  slug: string,
): Promise<(PublicRow & { readonly options: Json }) | undefined> {
  const { rows } = await sql<PublicRow & { readonly options: Json }>`select t.*, q.options ${workspaceColumn}
    from ${gallery} join qrcode_templates t on t.workspace_id = s.workspace_id and t.id = s.template_id
    join qrcode_designs q on q.workspace_id = t.workspace_id and q.id = t.qrcode_design_id
    where s.slug = ${slug} and ${isInGallery}`.execute(db);
  return rows[0];
}

/** The storage keys of thumbnails, of those templates among these that the workspace can use. */
export async function findThumbnails(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly thumbnail_key: string | null }[]> {
  const { rows } = await sql<Pick<Selectable<QrcodeTemplates>, "id" | "thumbnail_key">>`
    select id, thumbnail_key from qrcode_templates where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])
    union
    select t.id, t.thumbnail_key from ${gallery}
    join qrcode_templates t on t.workspace_id = s.workspace_id and t.id = s.template_id
    where s.template_id = any(${ids}::uuid[]) and ${isInGallery}`.execute(db);
  return rows;
}

export function matches(search: string): RawBuilder<boolean> {
  if (search === "") return sql<boolean>`true`;
  const pattern = `%${search.replaceAll(/[\\%_]/g, "\\$&")}%`;
  return sql<boolean>`(t.name ilike ${pattern} or t.description ilike ${pattern})`;
}
