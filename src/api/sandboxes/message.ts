import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { SandboxSchema } from "../../../gen/signpost/v1/sandbox_pb.js";
import type { SandboxRow } from "./queries.ts";

export function toSandbox({
  id,
  name,
  created_at,
  expires_at,
}: SandboxRow): MessageInitShape<typeof SandboxSchema> {
  return {
    id,
    name,
    createdAt: timestampFromDate(created_at),
    ...(expires_at && { expiresAt: timestampFromDate(expires_at) }),
  };
}
