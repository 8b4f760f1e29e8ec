import { sql } from "kysely";
import { lockClasses } from "../../db/locks.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import { below, type DirectoryRow, directoryColumns } from "./queries.ts";

/**
 * Waits until no other transaction changes the workspace's tree. Statements after this one see what the others have
 * written, so that two moves together cannot close a circle, and no path misses a move.
 */
export async function lockTree(tx: Db, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockClasses.directories}, hashtext(${workspaceId}))`.execute(tx);
}

/** Where a directory is to be. */
export interface Place {
  readonly workspaceId: string;
  /** Null for the root level. */
  readonly parentDirectoryId: string | null;
  readonly nameKey: string;
}

export interface FoundPlace {
  /** Null when there is no such parent. */
  readonly parentPath: string | null;
  /** Whether a directory other than `self` has the name there. */
  readonly isTaken: boolean;
}

export async function findPlace(tx: Db, place: Place, self: string | null): Promise<FoundPlace> {
  const { workspaceId, parentDirectoryId, nameKey } = place;
  const { rows } = await sql<FoundPlace>`select
    (select path from directories where workspace_id = ${workspaceId} and id = ${parentDirectoryId}::uuid)
      as "parentPath",
    exists (select from directories where workspace_id = ${workspaceId} and name_key = ${nameKey}
      and parent_directory_id is not distinct from ${parentDirectoryId}::uuid
      and id is distinct from ${self}::uuid) as "isTaken"`.execute(tx);
  return onlyRow(rows);
}

export async function insertDirectory(
  tx: Db,
  directory: Place & { readonly id: string; readonly name: string; readonly path: string; readonly at: Date },
): Promise<DirectoryRow> {
  const { workspaceId, id, parentDirectoryId, name, nameKey, path, at } = directory;
  const { rows } = await sql<DirectoryRow>`
    insert into directories (workspace_id, id, parent_directory_id, name, name_key, path, created_at, updated_at)
    values (${workspaceId}, ${id}, ${parentDirectoryId}, ${name}, ${nameKey}, ${path}, ${at}, ${at})
    returning ${directoryColumns}`.execute(tx);
  return onlyRow(rows);
}

export interface Tree {
  readonly directory: DirectoryRow;
  /** How many levels the directory has with everything below it; 1 for a directory without others. */
  readonly levels: number;
}

/** A directory, and how deep the tree below it goes. */
export async function findTree(tx: Db, workspaceId: string, id: string): Promise<Tree | undefined> {
  const { rows } = await sql<DirectoryRow & { levels: number }>`
    with top as (select ${directoryColumns} from directories where workspace_id = ${workspaceId} and id = ${id})
    select top.*, (select coalesce(max(cardinality(string_to_array(substr(path, length(top.path) + 1), '/'))), 1)
      from directories where workspace_id = ${workspaceId} and ${below(sql.ref("top.path"))}) as levels
    from top`.execute(tx);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { levels, ...directory } = row;
  return { directory, levels };
}

/** Renames or moves a directory, and rewrites the paths of everything below it. */
export async function moveDirectory(
  tx: Db,
  before: DirectoryRow,
  after: Omit<Place, "workspaceId"> & { readonly name: string; readonly path: string; readonly at: Date },
): Promise<DirectoryRow> {
  const { workspace_id: workspaceId, id } = before;
  const { rows } = await sql<DirectoryRow>`
    with moved as (update directories set path = ${after.path} || substr(path, ${[...before.path].length + 1}::int)
      where workspace_id = ${workspaceId} and ${below(sql`${before.path}::text`)})
    update directories set name = ${after.name}, name_key = ${after.nameKey}, path = ${after.path},
      parent_directory_id = ${after.parentDirectoryId}, updated_at = ${after.at}
    where workspace_id = ${workspaceId} and id = ${id}
    returning ${directoryColumns}`.execute(tx);
  return onlyRow(rows);
}

/** What became of a directory that was to be deleted. */
export type Deletion = "deleted" | "not empty" | "missing";

/**
 * Deletes a directory that has neither directories nor links. The row is locked in a statement of its own, so that the
 * next one sees the links that calls which held the lock have put into it.
 */
export async function deleteDirectory(tx: Db, workspaceId: string, id: string): Promise<Deletion> {
  const locked = await sql`select from directories where workspace_id = ${workspaceId} and id = ${id}
    for update`.execute(tx);
  if (locked.rows.length === 0) return "missing";
  const { rows } = await sql`delete from directories d where workspace_id = ${workspaceId} and id = ${id}
    and not exists (select from directories below
      where below.workspace_id = d.workspace_id and below.parent_directory_id = d.id)
    and not exists (select from living_links l where l.workspace_id = d.workspace_id and l.directory_id = d.id)
    returning id`.execute(tx);
  return rows.length > 0 ? "deleted" : "not empty";
}
