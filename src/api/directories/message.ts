import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { DirectorySchema } from "../../../gen/signpost/v1/directory_pb.js";
import type { DirectoryRow } from "./queries.ts";

export function toDirectory(row: DirectoryRow): MessageInitShape<typeof DirectorySchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    parentDirectoryId: row.parent_directory_id ?? "",
    path: row.path,
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}
