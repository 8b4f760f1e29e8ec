import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Json, QrcodeTemplates } from "../../../../gen/database.ts";
import { onlyRow } from "../../../db/only-row.ts";
import type { Db } from "../../../db/open.ts";
import type { TemplateTables } from "../../../db/templates/template-tables.ts";
import { gallery, isInGallery, usableTemplates } from "../../../db/templates/usable-templates.ts";
import { withinAnswer } from "../../../db/within-answer.ts";
import type { Page } from "../../../lib/paging/page.ts";
import type { PublicWorkspaceRow } from "../workspace.ts";

/** A template as it is stored, of either kind. */
export type StoredTemplate = Selectable<QrcodeTemplates>;

/** What can be read beside a template. */
export interface Beside {
  /** The row of its look. */
  readonly look?: Json | null;
  /** The storage keys of the media files of its look. Only of page themes. */
  readonly cover_key?: string | null;
  readonly badge_key?: string | null;
}

/** A template as a workspace sees it, with its look when the request names it. */
export interface TemplateRow extends StoredTemplate, Beside {
  /** How many living links of the caller's workspace were made from it. */
  readonly usage_count: bigint;
}

/**
 * A template as everyone sees it, with its workspace when the request names it. Built-in templates have no workspace.
 */
export interface PublicRow extends StoredTemplate, Beside {
  readonly workspace?: PublicWorkspaceRow | null;
}

/** What lists read beside a template: how many bytes its texts and embedded objects have. */
export interface Sized {
  readonly bytes: number;
}

/** What a statement reads of templates. */
export interface Reading {
  readonly tables: TemplateTables;
  readonly hasMedia: boolean;
  readonly withLook: boolean;
}

const nothing = sql.raw("");
const mediaColumns = sql.raw(`, (select m.storage_key from page_themes p
    join media m on m.workspace_id = p.workspace_id and m.id = (p.styling ->> 'canvasCoverId')::uuid
    where p.workspace_id = t.workspace_id and p.id = t.look_id) as cover_key,
  (select m.storage_key from page_themes p
    join media m on m.workspace_id = p.workspace_id and m.id = (p.styling ->> 'badgeId')::uuid
    where p.workspace_id = t.workspace_id and p.id = t.look_id) as badge_key`);
const workspaceColumn = sql.raw(", to_jsonb(w) as workspace");

/** What is read beside template `t`. */
export function besideColumns({ tables, hasMedia, withLook }: Reading): RawBuilder<unknown> {
  return sql`${withLook ? lookColumn(tables) : nothing} ${hasMedia ? mediaColumns : nothing}`;
}

function lookColumn({ looks }: TemplateTables): RawBuilder<unknown> {
  return sql`, (select to_jsonb(q) from ${sql.table(looks)} q
    where q.workspace_id = t.workspace_id and q.id = t.look_id) as look`;
}

/** How many living links of the workspace use each template. Served by the links' index of the column. */
function usageColumn({ ofLinks }: TemplateTables, workspaceId: string): RawBuilder<unknown> {
  return sql`, (select count(*) from living_links l
    where l.workspace_id = ${workspaceId} and l.${sql.ref(ofLinks)} = t.id) as usage_count`;
}

/** A template that the workspace can use. */
export async function findTemplate(
  db: Db,
  reading: Reading,
  workspaceId: string,
  id: string,
): Promise<TemplateRow | undefined> {
  const { tables } = reading;
  const { rows } =
    await sql<TemplateRow>`select t.* ${usageColumn(tables, workspaceId)} ${besideColumns(reading)}
    from (${usableTemplates(tables, workspaceId, [id])}) usable
    join ${sql.table(tables.templates)} t on t.workspace_id = usable.workspace_id and t.id = usable.id`.execute(
      db,
    );
  return rows[0];
}

const newestFirst = sql.raw("page.created_at desc, page.id desc");
const ownBytes = sql.raw(`octet_length(page.name) + octet_length(page.description) + octet_length(page.tags)
  + octet_length(page.learn_more) + octet_length(page.faq)`);
const lookBytes = sql.raw("+ coalesce(octet_length(page.look::text), 0)");
const workspaceBytes = sql.raw("+ coalesce(octet_length(page.workspace::text), 0)");

/** The bytes of a template in a list, as `withinAnswer` counts them. */
export function templateBytes({ withLook }: Pick<Reading, "withLook">): RawBuilder<unknown> {
  return sql`${ownBytes} ${withLook ? lookBytes : nothing}`;
}

export interface TemplateFilter {
  readonly workspaceId: string;
  readonly search: string;
}

/** The workspace's own templates, newest first, one more row than the page. Served by the index of pages. */
export async function listTemplates(
  db: Db,
  reading: Reading,
  { workspaceId, search }: TemplateFilter,
  { size, after }: Page<"time">,
): Promise<(TemplateRow & Sized)[]> {
  const { tables } = reading;
  const beyond = after ? sql`and (t.created_at, t.id) < (${after.key}, ${after.id}::uuid)` : nothing;
  const page = sql`select t.* ${usageColumn(tables, workspaceId)} ${besideColumns(reading)}
    from ${sql.table(tables.templates)} t where t.workspace_id = ${workspaceId} and ${matches(search)} ${beyond}
    order by t.created_at desc, t.id desc limit ${size + 1}`;
  const { rows } = await sql<
    TemplateRow & Sized
  >`${withinAnswer(page, { bytes: templateBytes(reading), order: newestFirst })}`.execute(db);
  return rows;
}

export async function countTemplates(
  db: Db,
  { templates }: TemplateTables,
  { workspaceId, search }: TemplateFilter,
): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from ${sql.table(templates)} t
    where t.workspace_id = ${workspaceId} and ${matches(search)}`.execute(db);
  return onlyRow(rows).count;
}

/** The gallery, newest first, one more row than the page. Served by the gallery's index of slugs. */
export async function listGallery(
  db: Db,
  reading: Reading,
  filter: TemplateFilter & { readonly withWorkspace: boolean },
  { size, after }: Page<"time">,
): Promise<(PublicRow & Sized)[]> {
  const { templates } = reading.tables;
  const beyond = after ? sql`and (s.created_at, s.template_id) < (${after.key}, ${after.id}::uuid)` : nothing;
  const owned = filter.workspaceId === "" ? nothing : sql`and s.workspace_id = ${filter.workspaceId}`;
  const page = sql`select t.* ${besideColumns(reading)} ${filter.withWorkspace ? workspaceColumn : nothing}
    from ${gallery(reading.tables)}
    join ${sql.table(templates)} t on t.workspace_id = s.workspace_id and t.id = s.template_id
    where ${isInGallery} and ${matches(filter.search)} ${owned} ${beyond}
    order by s.created_at desc, s.template_id desc limit ${size + 1}`;
  const bytes = sql`${templateBytes(reading)} ${filter.withWorkspace ? workspaceBytes : nothing}`;
  const { rows } = await sql<PublicRow & Sized>`${withinAnswer(page, { bytes, order: newestFirst })}`.execute(
    db,
  );
  return rows;
}

/** A template of the gallery. */
export async function findInGallery(
  db: Db,
  reading: Reading,
  slug: string,
  { withWorkspace }: { readonly withWorkspace: boolean },
): Promise<PublicRow | undefined> {
  const { templates } = reading.tables;
  const { rows } =
    await sql<PublicRow>`select t.* ${besideColumns(reading)} ${withWorkspace ? workspaceColumn : nothing}
    from ${gallery(reading.tables)}
    join ${sql.table(templates)} t on t.workspace_id = s.workspace_id and t.id = s.template_id
    where s.slug = ${slug} and ${isInGallery}`.execute(db);
  return rows[0];
}

/** The storage keys of the pictures of those of the templates that the workspace can use. */
export async function findImages(
  db: Db,
  reading: Reading,
  workspaceId: string,
  ids: readonly string[],
): Promise<(Pick<StoredTemplate, "id" | "thumbnail_key"> & Beside)[]> {
  const { tables } = reading;
  const { rows } = await sql<
    Pick<StoredTemplate, "id" | "thumbnail_key"> & Beside
  >`select t.id, t.thumbnail_key ${besideColumns(reading)}
    from (${usableTemplates(tables, workspaceId, ids)}) usable
    join ${sql.table(tables.templates)} t on t.workspace_id = usable.workspace_id and t.id = usable.id`.execute(
    db,
  );
  return rows;
}

export function matches(search: string): RawBuilder<boolean> {
  if (search === "") return sql<boolean>`true`;
  const pattern = `%${search.replaceAll(/[\\%_]/g, "\\$&")}%`;
  return sql<boolean>`(t.name ilike ${pattern} or t.description ilike ${pattern})`;
}
