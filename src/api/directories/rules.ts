import type { UpdateDirectoryRequest } from "../../../gen/signpost/v1/directories_service_pb.js";
import { type CallError, fail, invalid } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { notFound } from "../resources/not-found.ts";

/** How many levels of directories a workspace has at most. */
const depthMax = 10;

/** The wanted values of a directory. Undefined leaves a value; a parent of null is the root level. */
export interface DirectoryUpdate {
  readonly name: string | undefined;
  readonly parentDirectoryId: string | null | undefined;
}

/** Throws INVALID_ARGUMENT for an empty name, and for a parent that is given and removed at once. */
export function readDirectoryUpdate(request: UpdateDirectoryRequest): DirectoryUpdate {
  const { name, parentDirectoryId, parentDirectoryIdDelete, updateMask } = request;
  const fields = fieldsToChange(
    { name, parent_directory_id: parentDirectoryId, parent_directory_id_delete: parentDirectoryIdDelete },
    updateMask?.paths,
  );
  const isRemoved = fields.has("parent_directory_id_delete") && parentDirectoryIdDelete;
  const isMoved = fields.has("parent_directory_id") && parentDirectoryId !== "";
  if (isRemoved && isMoved)
    throw invalid(
      [
        {
          field: "parentDirectoryId",
          description: "must not be given together with parentDirectoryIdDelete",
        },
      ],
      "MUTUALLY_EXCLUSIVE_FIELDS",
    );
  if (fields.has("name") && name === "")
    throw invalid([{ field: "name", description: "must have at least 1 character" }]);
  return {
    name: fields.has("name") ? name : undefined,
    parentDirectoryId: isRemoved ? null : isMoved ? parentDirectoryId.toLowerCase() : undefined,
  };
}

/** The path of a directory in its parent. An undefined parent path is the root level. */
export function pathIn(parentPath: string | undefined, name: string): string {
  return parentPath === undefined ? name : `${parentPath}/${name}`;
}

/** How many levels a path goes down; 1 at the root level. */
export function depthOf(path: string): number {
  return path.split("/").length;
}

/** Throws when a directory with `levels` levels of its own would go too deep at this path. */
export function checkDepth(path: string, levels = 1): void {
  const depth = depthOf(path) + levels - 1;
  if (depth <= depthMax) return;
  const description = `leads to ${depth} levels of directories, and there are at most ${depthMax}: choose one further up`;
  throw invalid([{ field: "parentDirectoryId", description }]);
}

/** Throws when the new parent is the directory itself or something below it. */
export function checkNoCycle(path: string, parentPath: string | undefined): void {
  if (parentPath === undefined || !`${parentPath}/`.startsWith(`${path}/`)) return;
  const description = "must not be the directory itself or one below it";
  throw invalid([{ field: "parentDirectoryId", description }], "DIRECTORY_CYCLE");
}

export function nameTaken(name: string): CallError {
  return fail(
    "ALREADY_EXISTS",
    "NAME_TAKEN",
    `a directory beside this one is called ${name}: choose another name`,
    {
      metadata: { name },
    },
  );
}

export function noSuchDirectory(id: string): CallError {
  return notFound("directory", "id", id);
}

export function noSuchParent(id: string): CallError {
  return notFound("directory", "parentDirectoryId", id);
}
