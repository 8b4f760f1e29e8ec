import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Selectable } from "kysely";
import type { CustomDomains } from "../../../../gen/database.ts";
import {
  CustomDomain_Status,
  type CustomDomainSchema,
} from "../../../../gen/signpost/v1/custom_domain_pb.js";
import type { JsonRow } from "../json-row.ts";

export type CustomDomainRow = Selectable<CustomDomains> | JsonRow<CustomDomains>;

export function toCustomDomain(row: CustomDomainRow): MessageInitShape<typeof CustomDomainSchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    rootDestination: row.root_destination,
    status: CustomDomain_Status[row.status],
    lastError: row.last_error,
    ...(row.last_checked_at && { lastCheckedAt: timestamp(row.last_checked_at) }),
    ...(row.activated_at && { activatedAt: timestamp(row.activated_at) }),
    ...(row.certificate_expires_at && { certificateExpiresAt: timestamp(row.certificate_expires_at) }),
    createdAt: timestamp(row.created_at),
    updatedAt: timestamp(row.updated_at),
  };
}

function timestamp(time: Date | string): Timestamp {
  return timestampFromDate(new Date(time));
}
