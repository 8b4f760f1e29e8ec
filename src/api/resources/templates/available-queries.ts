import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../../db/open.ts";
import type { TemplateTables } from "../../../db/templates/template-tables.ts";
import { gallery, isInGallery } from "../../../db/templates/usable-templates.ts";
import { withinAnswer } from "../../../db/within-answer.ts";
import {
  besideColumns,
  matches,
  type Reading,
  type Sized,
  type TemplateFilter,
  type TemplateRow,
  templateBytes,
} from "./queries.ts";

/** A template that a workspace can use, and its rank: twice its use, and one more for the workspace's own templates. */
export interface AvailableRow extends TemplateRow, Sized {
  readonly rank: bigint;
}

/** The position of a template in the list, which is sorted by rank, then the newest first. */
export type AvailablePlace = Pick<AvailableRow, "rank" | "created_at" | "id">;

export interface AvailablePage {
  readonly size: number;
  readonly after: AvailablePlace | undefined;
}

const everything = sql`true`;

/** Finds template `t` of a row. */
function template({ templates }: TemplateTables): RawBuilder<unknown> {
  return sql`join ${sql.table(templates)} t on t.workspace_id = found.workspace_id and t.id = found.id`;
}

function ofOthers(tables: TemplateTables, workspaceId: string): RawBuilder<unknown> {
  return sql`select s.workspace_id, s.template_id as id, s.created_at from ${gallery(tables)}
    where ${isInGallery} and s.workspace_id <> ${workspaceId}`;
}

/** Among the templates of one rank, those that stand behind a position. */
function beyond(rank: bigint, after: AvailablePlace | undefined): RawBuilder<unknown> {
  if (after === undefined || after.rank > rank) return everything;
  if (after.rank < rank) return sql`false`;
  return sql`(found.created_at, found.id) < (${after.created_at}, ${after.id}::uuid)`;
}

/**
 * All templates that the workspace can use, one more row than the page. Of the templates that no link of the workspace
 * uses, it reads no more than the page needs: its own by the index of pages, and those that others have
 * published by the gallery's index of slugs.
 */
export async function listAvailable(
  db: Db,
  reading: Reading,
  { workspaceId, search }: TemplateFilter,
  { size, after }: AvailablePage,
): Promise<AvailableRow[]> {
  const { tables } = reading;
  const templates = sql.table(tables.templates);
  const column = sql.ref(tables.ofLinks);
  const behind = after
    ? sql`(found.rank, found.created_at, found.id) < (${after.rank}::bigint, ${after.created_at}, ${after.id}::uuid)`
    : everything;
  const page = sql`
    with used as materialized (
      select ${column} as id, count(*) as usage_count from living_links
      where workspace_id = ${workspaceId} and ${column} is not null
      group by ${column}),
    favourites as (
      select found.workspace_id, found.id, found.created_at, usage_count, 2 * usage_count + 1 as rank
      from used join ${templates} found on found.workspace_id = ${workspaceId} and found.id = used.id
      union all
      select found.workspace_id, found.id, found.created_at, usage_count, 2 * usage_count as rank
      from used join (${ofOthers(tables, workspaceId)}) found on found.id = used.id),
    mine as (
      select found.workspace_id, found.id, found.created_at, 0::bigint as usage_count, 1::bigint as rank
      from ${templates} found ${template(tables)}
      where found.workspace_id = ${workspaceId} and found.id not in (select id from used)
        and ${beyond(1n, after)} and ${matches(search)}
      order by found.created_at desc, found.id desc limit ${size + 1}),
    theirs as (
      select found.workspace_id, found.id, found.created_at, 0::bigint as usage_count, 0::bigint as rank
      from (${ofOthers(tables, workspaceId)}) found ${template(tables)}
      where found.id not in (select id from used) and ${beyond(0n, after)} and ${matches(search)}
      order by found.created_at desc, found.id desc limit ${size + 1})
    select t.*, found.usage_count, found.rank ${besideColumns(reading)}
    from (select * from favourites union all select * from mine union all select * from theirs) found ${template(tables)}
    where ${behind} and ${matches(search)}
    order by found.rank desc, found.created_at desc, found.id desc limit ${size + 1}`;
  const order = sql`page.rank desc, page.created_at desc, page.id desc`;
  const { rows } =
    await sql<AvailableRow>`${withinAnswer(page, { bytes: templateBytes(reading), order })}`.execute(db);
  return rows;
}

export async function countAvailable(
  db: Db,
  tables: TemplateTables,
  { workspaceId, search }: TemplateFilter,
): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from (
      select workspace_id, id, created_at from ${sql.table(tables.templates)} where workspace_id = ${workspaceId}
      union all ${ofOthers(tables, workspaceId)}) found ${template(tables)}
    where ${matches(search)}`.execute(db);
  return rows[0]?.count ?? 0n;
}
