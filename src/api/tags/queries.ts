import { type Selectable, sql } from "kysely";
import type { Tags } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import type { Page } from "../../lib/paging/page.ts";
import { newestFirst } from "../resources/page-queries.ts";

/** One page of tags and one more, newest first. Served by tags_page_idx. */
export async function listTags(
  db: Db,
  workspaceId: string,
  search: string,
  page: Page<"time">,
): Promise<Selectable<Tags>[]> {
  return db
    .selectFrom("tags")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .$if(search !== "", (query) => query.where("name", "ilike", `%${search.replaceAll(/[\\%_]/g, "\\$&")}%`))
    .$call(newestFirst(page))
    .execute();
}

/**
 * Deletes a tag and takes it off all links. False when no tag has this name. The tag is locked in a statement of its
 * own, so that the next one sees the links that calls which held the lock have given the tag.
 */
export async function deleteTag(tx: Db, workspaceId: string, name: string): Promise<boolean> {
  const locked = await sql<{ id: string }>`select id from tags
    where workspace_id = ${workspaceId} and name = ${name} for update`.execute(tx);
  const [tag] = locked.rows;
  if (tag === undefined) return false;
  await sql`
    with detached as (delete from link_tags where workspace_id = ${workspaceId} and tag_id = ${tag.id})
    delete from tags where workspace_id = ${workspaceId} and id = ${tag.id}`.execute(tx);
  return true;
}
