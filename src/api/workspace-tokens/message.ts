import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  WorkspaceTokenKeyType,
  type WorkspaceTokenSchema,
} from "../../../gen/signpost/v1/workspace_token_pb.js";
import type { TokenKeyType } from "../../model/token.ts";
import type { WorkspaceTokenRow } from "./queries.ts";

const keyTypes = {
  SECRET: WorkspaceTokenKeyType.SECRET,
  PUBLISHABLE: WorkspaceTokenKeyType.PUBLISHABLE,
} as const satisfies Record<WorkspaceTokenRow["key_type"], WorkspaceTokenKeyType>;

export function toWorkspaceToken(row: WorkspaceTokenRow): MessageInitShape<typeof WorkspaceTokenSchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    keyType: keyTypes[row.key_type],
    createdBy: row.created_by ?? "",
    ...(row.last_used_at ? { lastUsedAt: timestampFromDate(row.last_used_at) } : {}),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

/** Undefined for the unspecified value. */
export function fromKeyType(keyType: WorkspaceTokenKeyType): TokenKeyType | undefined {
  switch (keyType) {
    case WorkspaceTokenKeyType.SECRET:
      return "SECRET";
    case WorkspaceTokenKeyType.PUBLISHABLE:
      return "PUBLISHABLE";
    default:
      return undefined;
  }
}
