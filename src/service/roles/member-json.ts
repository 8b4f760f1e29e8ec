import { create, createRegistry } from "@bufbuild/protobuf";
import { MemberSchema } from "../../../gen/signpost/v1/member_pb.js";
import { toMember } from "../../api/members/message.ts";
import { findMember } from "../../api/members/queries.ts";
import type { Db } from "../../db/open.ts";
import type { SignedSession } from "../../people/sessions.ts";
import { createMessageWriters } from "../../rest/write-message.ts";

const write = createMessageWriters(createRegistry(MemberSchema)).message(MemberSchema);

/**
 * The JSON of a member as `/v1/member` has it, with the token of the session that began. Undefined when the member was
 * deleted meanwhile.
 */
export async function memberJson(
  db: Db,
  { workspaceId, memberId, accessToken }: SignedSession,
): Promise<string | undefined> {
  const row = await findMember(db, workspaceId, memberId);
  return row && Buffer.from(write(create(MemberSchema, { ...toMember(row), accessToken }))).toString();
}
