import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { gallery, isInGallery } from "../../db/usable-templates.ts";
import { withinAnswer } from "../../db/within-answer.ts";
import {
  designColumn,
  matches,
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
const template = sql`join qrcode_templates t on t.workspace_id = found.workspace_id and t.id = found.id`;

function ofOthers(workspaceId: string): RawBuilder<unknown> {
  return sql`select s.workspace_id, s.template_id as id, s.created_at from ${gallery}
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
 * uses, it reads no more than the page needs: its own by qrcode_templates_page_idx, and those that others have
 * published by qrcode_template_slugs_gallery_idx.
 */
export async function listAvailable(
  db: Db,
  { workspaceId, search, withDesign }: TemplateFilter & { readonly withDesign: boolean },
  { size, after }: AvailablePage,
): Promise<AvailableRow[]> {
  const behind = after
    ? sql`(found.rank, found.created_at, found.id) < (${after.rank}::bigint, ${after.created_at}, ${after.id}::uuid)`
    : everything;
  const page = sql`
    with used as materialized (
      select qrcode_template_id as id, count(*) as usage_count from living_links
      where workspace_id = ${workspaceId} and qrcode_template_id is not null
      group by qrcode_template_id),
    favourites as (
      select found.workspace_id, found.id, found.created_at, usage_count, 2 * usage_count + 1 as rank
      from used join qrcode_templates found on found.workspace_id = ${workspaceId} and found.id = used.id
      union all
      select found.workspace_id, found.id, found.created_at, usage_count, 2 * usage_count as rank
      from used join (${ofOthers(workspaceId)}) found on found.id = used.id),
    mine as (
      select found.workspace_id, found.id, found.created_at, 0::bigint as usage_count, 1::bigint as rank
      from qrcode_templates found ${template}
      where found.workspace_id = ${workspaceId} and found.id not in (select id from used)
        and ${beyond(1n, after)} and ${matches(search)}
      order by found.created_at desc, found.id desc limit ${size + 1}),
    theirs as (
      select found.workspace_id, found.id, found.created_at, 0::bigint as usage_count, 0::bigint as rank
      from (${ofOthers(workspaceId)}) found ${template}
      where found.id not in (select id from used) and ${beyond(0n, after)} and ${matches(search)}
      order by found.created_at desc, found.id desc limit ${size + 1})
    select t.*, found.usage_count, found.rank ${withDesign ? designColumn : sql``}
    from (select * from favourites union all select * from mine union all select * from theirs) found ${template}
    where ${behind} and ${matches(search)}
    order by found.rank desc, found.created_at desc, found.id desc limit ${size + 1}`;
  const order = sql`page.rank desc, page.created_at desc, page.id desc`;
  const { rows } =
    await sql<AvailableRow>`${withinAnswer(page, { bytes: templateBytes(withDesign), order })}`.execute(db);
  return rows;
}

export async function countAvailable(db: Db, { workspaceId, search }: TemplateFilter): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from (
      select workspace_id, id, created_at from qrcode_templates where workspace_id = ${workspaceId}
      union all ${ofOthers(workspaceId)}) found ${template}
    where ${matches(search)}`.execute(db);
  return rows[0]?.count ?? 0n;
}
