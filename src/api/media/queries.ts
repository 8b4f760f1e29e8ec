import { type Insertable, type RawBuilder, type Selectable, sql } from "kysely";
import type { Media } from "../../../gen/database.ts";
import { fileCheckOf } from "../../db/file-checks.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import type { Page } from "../../lib/paging/page.ts";
import { newestFirst } from "../resources/page-queries.ts";

export type MediaRow = Selectable<Media>;

/** Stores a record and queues what is to be done with its image. */
export async function insertMedia(
  db: Db,
  values: Insertable<Media>,
  queued: RawBuilder<unknown> | undefined,
): Promise<MediaRow> {
  const insert = db.insertInto("media").values(values).returningAll();
  if (queued === undefined) return insert.executeTakeFirstOrThrow();
  const { rows } = await sql<MediaRow>`with made as (${insert}), queued as (select ${queued} from made)
    select * from made where (select count(*) from queued) > 0`.execute(db);
  return onlyRow(rows);
}

export function findMedia(db: Db, workspaceId: string, id: string): Promise<MediaRow | undefined> {
  return db
    .selectFrom("media")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** Media files, newest first, one more row than the page. Served by media_page_idx. */
export function listMedia(db: Db, workspaceId: string, page: Page<"time">): Promise<MediaRow[]> {
  return db
    .selectFrom("media")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .$call(newestFirst(page))
    .execute();
}

export interface MediaDeletion {
  readonly outcome: "deleted" | "in use" | "missing";
  /** The files of a record that was deleted. */
  readonly keys: readonly string[];
}

/**
 * Deletes a record that nothing uses, and marks its files for the clean-up. The record is locked in a statement of its
 * own, so that the next one sees the themes that calls which held the lock have given the file to.
 */
export async function deleteMedia(
  tx: Db,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<MediaDeletion> {
  const found = await sql`select from media
    where workspace_id = ${workspaceId} and id = ${id} for update`.execute(tx);
  if (found.rows.length === 0) return { outcome: "missing", keys: [] };
  const { rows } = await sql<MediaDeletion>`
    with used as (select from page_themes p where p.workspace_id = ${workspaceId}
        and ${id}::text in (p.styling ->> 'canvasCoverId', p.styling ->> 'badgeId')),
      gone as (delete from media m
        where m.workspace_id = ${workspaceId} and m.id = ${id} and not exists (select from used)
        returning m.workspace_id, m.page_files || m.storage_key as keys, m.id),
      checked as (${fileCheckOf(sql.raw("select workspace_id, unnest(keys), id from gone"), now)})
    select case when exists (select from used) then 'in use' else 'deleted' end as outcome,
      coalesce((select keys from gone), '{}') as keys`.execute(tx);
  return onlyRow(rows);
}
