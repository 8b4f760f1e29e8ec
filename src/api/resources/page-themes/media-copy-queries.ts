import { type Insertable, type Selectable, sql } from "kysely";
import type { Media } from "../../../../gen/database.ts";
import type { Db } from "../../../db/open.ts";

export type MediaSource = Pick<
  Selectable<Media>,
  "id" | "media_type" | "file_name" | "storage_key" | "size_bytes" | "sha256"
>;

/** These media files of a workspace. */
export async function findSources(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<MediaSource[]> {
  const { rows } = await sql<MediaSource>`select id, media_type, file_name, storage_key, size_bytes, sha256
    from media where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])`.execute(db);
  return rows;
}

/** The workspace's oldest media file with the content and the type of another. Served by media_content_idx. */
export async function findSame(db: Db, workspaceId: string, of: MediaSource): Promise<string | undefined> {
  const { rows } = await sql<Pick<MediaSource, "id">>`select id from media
    where workspace_id = ${workspaceId} and sha256 = ${of.sha256} and media_type = ${of.media_type}
    order by created_at, id limit 1`.execute(db);
  return rows[0]?.id;
}

export async function insertCopies(tx: Db, copies: readonly Insertable<Media>[]): Promise<void> {
  if (copies.length > 0)
    await tx
      .insertInto("media")
      .values([...copies])
      .execute();
}
