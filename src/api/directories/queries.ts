import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Directories } from "../../../gen/database.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import type { Page } from "../../lib/paging/page.ts";

export type DirectoryRow = Omit<Selectable<Directories>, "name_key">;

export const directoryColumns = sql.raw(
  "workspace_id, id, parent_directory_id, name, path, created_at, updated_at",
);

export async function findDirectory(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<DirectoryRow | undefined> {
  const { rows } = await sql<DirectoryRow>`select ${directoryColumns} from directories
    where workspace_id = ${workspaceId} and id = ${id}`.execute(db);
  return rows[0];
}

/** Which directories a list has. */
export interface DirectoryFilter {
  readonly workspaceId: string;
  /** The directory below which the list looks. Null for the root level. */
  readonly parentDirectoryId: string | null;
  /** Whether the list has all levels below, ordered by path. Otherwise it has one level, newest first. */
  readonly recursive: boolean;
  /** Whether the list also has the root level. */
  readonly includeRoot: boolean;
  /** A part of the name, in any case. */
  readonly search: string | undefined;
}

/** One page and one more row, newest first. Served by directories_page_idx. */
export async function listLevel(
  db: Db,
  filter: DirectoryFilter,
  { size, after }: Page<"time">,
): Promise<DirectoryRow[]> {
  const beyond = after ? sql`and (created_at, id) < (${after.key}, ${after.id}::uuid)` : sql.raw("");
  const { rows } = await sql<DirectoryRow>`select ${directoryColumns} from directories
    where ${matching(filter)} ${beyond} order by created_at desc, id desc limit ${size + 1}`.execute(db);
  return rows;
}

/** One page and one more row, by path. Served by directories_path_idx. */
export async function listTree(
  db: Db,
  filter: DirectoryFilter,
  { size, after }: Page<"text">,
): Promise<DirectoryRow[]> {
  const beyond = after
    ? sql`and (left(path, 200), path) > (left(${after.key}, 200), ${after.key})`
    : sql.raw("");
  const { rows } = await sql<DirectoryRow>`select ${directoryColumns} from directories
    where ${matching(filter)} ${beyond} order by left(path, 200), path limit ${size + 1}`.execute(db);
  return rows;
}

export interface DirectoryTotals {
  readonly total: bigint;
  /** Whether the parent of the filter belongs to the workspace. */
  readonly parentExists: boolean;
}

export async function countDirectories(db: Db, filter: DirectoryFilter): Promise<DirectoryTotals> {
  const { workspaceId, parentDirectoryId } = filter;
  const { rows } = await sql<DirectoryTotals>`select
    (select count(*) from directories where ${matching(filter)}) as total,
    exists (select from directories where workspace_id = ${workspaceId}
      and id = ${parentDirectoryId}::uuid) as "parentExists"`.execute(db);
  return onlyRow(rows);
}

function matching(filter: DirectoryFilter): RawBuilder<unknown> {
  const { workspaceId, parentDirectoryId, recursive, includeRoot, search } = filter;
  const conditions = [sql`workspace_id = ${workspaceId}`];
  const root = sql`parent_directory_id is null`;
  if (parentDirectoryId === null) conditions.push(...(recursive ? [] : [root]));
  else {
    const inside = recursive
      ? below(
          sql`(select path from directories where workspace_id = ${workspaceId} and id = ${parentDirectoryId})`,
        )
      : sql`parent_directory_id = ${parentDirectoryId}::uuid`;
    conditions.push(includeRoot ? sql`(${root} or ${inside})` : inside);
  }
  if (search !== undefined) conditions.push(sql`name ilike ${`%${search.replaceAll(/[\\%_]/g, "\\$&")}%`}`);
  return sql.join(conditions, sql.raw(" and "));
}

/** Whether `path` is below the directory at `top`: the range serves the index, and the prefix decides. */
export function below(top: RawBuilder<unknown>): RawBuilder<unknown> {
  // "0" is the byte after "/".
  return sql`(left(path, 200) between left(${top} || '/', 200) and left(${top} || '0', 200)
    and starts_with(path, ${top} || '/'))`;
}
