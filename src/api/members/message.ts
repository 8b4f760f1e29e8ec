import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Member_Role, type MemberSchema } from "../../../gen/signpost/v1/member_pb.js";
import type { MemberRow } from "./queries.ts";

const roles = {
  ADMIN: Member_Role.ADMIN,
  TECH: Member_Role.TECH,
  VIEWER: Member_Role.VIEWER,
} as const satisfies Record<MemberRow["role"], Member_Role>;

export function toMember(row: MemberRow): MessageInitShape<typeof MemberSchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    role: roles[row.role],
    displayLanguage: row.display_language,
    ...(row.email_verified_at && { emailVerifiedAt: timestampFromDate(row.email_verified_at) }),
    ...(row.access_revoked_at && { accessRevokedAt: timestampFromDate(row.access_revoked_at) }),
    ...(row.last_signin_at && { lastSigninAt: timestampFromDate(row.last_signin_at) }),
    lastKnownCountry: row.last_known_country,
    lastKnownIp: row.last_known_ip,
    lastKnownLanguage: row.last_known_language,
    lastKnownTimezone: row.last_known_timezone,
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

/** The role that a request names; undefined when it leaves the role as it is. */
export function fromRole(role: Member_Role): MemberRow["role"] | undefined {
  switch (role) {
    case Member_Role.ADMIN:
      return "ADMIN";
    case Member_Role.TECH:
      return "TECH";
    case Member_Role.VIEWER:
      return "VIEWER";
    case Member_Role.UNSPECIFIED:
      return undefined;
  }
}
