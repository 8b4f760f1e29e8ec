import type {
  CreateDirectoryRequest,
  UpdateDirectoryRequest,
} from "../../../gen/signpost/v1/directories_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { newId } from "../../lib/ids.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { nameKey } from "../resources/name-key.ts";
import type { DirectoryRow } from "./queries.ts";
import {
  checkDepth,
  checkNoCycle,
  nameTaken,
  noSuchDirectory,
  noSuchParent,
  pathIn,
  readDirectoryUpdate,
} from "./rules.ts";
import { findPlace, findTree, insertDirectory, lockTree, moveDirectory } from "./writes.ts";

/** Makes a directory in one transaction that has the workspace's tree for itself. */
export function createDirectory(
  { name, parentDirectoryId: parent }: CreateDirectoryRequest,
  context: Context,
  now: () => Date,
): Promise<DirectoryRow> {
  const { workspaceId } = callerOf(context);
  const place = { workspaceId, parentDirectoryId: parent || null, nameKey: nameKey(name) };
  return inTransaction(context.db, async (tx) => {
    await lockTree(tx, workspaceId);
    const { parentPath, isTaken } = await findPlace(tx, place, null);
    if (parent !== "" && parentPath === null) throw noSuchParent(parent);
    const path = pathIn(parentPath ?? undefined, name);
    checkDepth(path);
    if (isTaken) throw nameTaken(name);
    const at = now();
    return insertDirectory(tx, { ...place, id: newId(at), name, path, at });
  });
}

/** Renames or moves a directory with everything below it. Values that are the same change nothing. */
export function changeDirectory(
  request: UpdateDirectoryRequest,
  context: Context,
  now: () => Date,
): Promise<DirectoryRow> {
  const { workspaceId } = callerOf(context);
  const update = readDirectoryUpdate(request);
  return inTransaction(context.db, async (tx) => {
    await lockTree(tx, workspaceId);
    const tree = await findTree(tx, workspaceId, request.id);
    if (tree === undefined) throw noSuchDirectory(request.id);
    const { directory: before, levels } = tree;
    const name = update.name ?? before.name;
    const parentDirectoryId =
      update.parentDirectoryId === undefined ? before.parent_directory_id : update.parentDirectoryId;
    const place = { workspaceId, parentDirectoryId, nameKey: nameKey(name) };
    const { parentPath, isTaken } = await findPlace(tx, place, before.id);
    if (parentDirectoryId !== null && parentPath === null) throw noSuchParent(parentDirectoryId);
    checkNoCycle(before.path, parentPath ?? undefined);
    const path = pathIn(parentPath ?? undefined, name);
    if (path === before.path) return before;
    checkDepth(path, levels);
    if (isTaken) throw nameTaken(name);
    return moveDirectory(tx, before, { ...place, name, path, at: now() });
  });
}
