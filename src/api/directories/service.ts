import { create } from "@bufbuild/protobuf";
import type {
  DirectoriesService,
  ListDirectoriesRequest,
} from "../../../gen/signpost/v1/directories_service_pb.js";
import { DirectorySchema } from "../../../gen/signpost/v1/directory_pb.js";
import { inTransaction } from "../../db/open.ts";
import { fail, faultsFrom } from "../../lib/errors.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { type Context, callerOf, type Handlers, withCheck } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { changeDirectory, createDirectory } from "./change-tree.ts";
import { toDirectory } from "./message.ts";
import {
  countDirectories,
  type DirectoryFilter,
  type DirectoryRow,
  findDirectory,
  listLevel,
  listTree,
} from "./queries.ts";
import { noSuchDirectory, noSuchParent, readDirectoryUpdate } from "./rules.ts";
import { deleteDirectory, lockTree } from "./writes.ts";

export function directoriesService({ now }: Pick<Deps, "now">): Handlers<typeof DirectoriesService> {
  return {
    async create(request, context) {
      return { directory: toDirectory(await createDirectory(request, context, now)) };
    },

    async get({ id }, context) {
      const row = await findDirectory(context.db, callerOf(context).workspaceId, id);
      if (row === undefined) throw noSuchDirectory(id);
      return { directory: toDirectory(row) };
    },

    async list(request, context) {
      const filter = readFilter(request, callerOf(context).workspaceId);
      const [{ directories, nextPageToken }, { total, parentExists }] = await Promise.all([
        listPage(request, filter, context),
        countDirectories(context.db, filter),
      ]);
      if (filter.parentDirectoryId !== null && !parentExists) throw noSuchParent(filter.parentDirectoryId);
      return { directories, nextPageToken, totalCount: total };
    },

    update: withCheck(
      (request) => faultsFrom(() => readDirectoryUpdate(request)),
      async (request, context) => ({ directory: toDirectory(await changeDirectory(request, context, now)) }),
    ),

    async delete({ id }, context) {
      const { workspaceId } = callerOf(context);
      const outcome = await inTransaction(context.db, async (tx) => {
        await lockTree(tx, workspaceId);
        return deleteDirectory(tx, workspaceId, id);
      });
      if (outcome === "missing") throw noSuchDirectory(id);
      if (outcome === "not empty")
        throw fail(
          "FAILED_PRECONDITION",
          "DIRECTORY_NOT_EMPTY",
          `directory ${id} contains links or directories: move or delete these first`,
        );
      return {};
    },
  };
}

function readFilter(request: ListDirectoriesRequest, workspaceId: string): DirectoryFilter {
  return {
    workspaceId,
    parentDirectoryId: request.parentDirectoryId || null,
    recursive: request.recursive || request.search !== "",
    includeRoot: request.includeRoot,
    search: request.search || undefined,
  };
}

async function listPage(request: ListDirectoriesRequest, filter: DirectoryFilter, context: Context) {
  const fill = {
    recordOf: (row: DirectoryRow) => create(DirectorySchema, toDirectory(row)),
    write: (directory: ReturnType<typeof create<typeof DirectorySchema>>) =>
      context.writeRecord(DirectorySchema, directory),
  };
  if (filter.recursive) {
    const page = readPage(request, { key: "text", sort: "directories by path", filters: filter });
    const rows = await listTree(context.db, filter, page);
    const edgeOf = (row: DirectoryRow) => ({ key: row.path, id: row.id });
    const { records, nextPageToken } = await fillPage(page, { rows, edgeOf, ...fill });
    return { directories: records, nextPageToken };
  }
  const page = readPage(request, { key: "time", sort: "directories newest first", filters: filter });
  const rows = await listLevel(context.db, filter, page);
  const edgeOf = (row: DirectoryRow) => ({ key: row.created_at, id: row.id });
  const { records, nextPageToken } = await fillPage(page, { rows, edgeOf, ...fill });
  return { directories: records, nextPageToken };
}
