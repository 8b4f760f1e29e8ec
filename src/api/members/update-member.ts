import type {
  UpdateMemberRequest,
  UpdateMyselfRequest,
} from "../../../gen/signpost/v1/members_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { type Fault, invalidArgument } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";
import type { Caller } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { changeEmail } from "./change-email.ts";
import { fromRole } from "./message.ts";
import type { MemberRow } from "./queries.ts";
import { checkLeavesAdmin, noSuchMember } from "./rules.ts";
import { lockMember, lockMembers, writeMember } from "./writes.ts";

/** An address cannot be cleared. Without a mask, an empty one is left out. */
export function emailFaults({
  email,
  updateMask,
}: UpdateMemberRequest | UpdateMyselfRequest): readonly Fault[] {
  const isCleared = fieldsToChange({ email }, updateMask?.paths).has("email") && email === "";
  return isCleared ? [invalidArgument("email", "must not be empty")] : [];
}

/** Changes a member. Values that are the same change nothing, not even `updated_at`. */
export function updateMember(
  db: Db,
  request: UpdateMemberRequest,
  { caller, now, jobCall }: Pick<Deps, "now" | "jobCall"> & { readonly caller: Caller },
): Promise<MemberRow> {
  const { workspaceId, memberId: callerId } = caller;
  return inTransaction(db, async (tx) => {
    await lockMembers(tx, workspaceId);
    const before = await lockMember(tx, workspaceId, request.id);
    if (before === undefined) throw noSuchMember(request.id);
    const { email, ...after } = wanted(request, before);
    if (after.role !== before.role && before.role === "ADMIN")
      await checkLeavesAdmin(tx, before, { deed: "take the role of an administrator from", callerId });
    const at = now();
    const isMoved = email !== before.email;
    if (!isMoved && isSame(after, before)) return before;
    const address = isMoved ? await changeEmail(tx, before, { email, at, jobCall }) : {};
    return writeMember(tx, before, { ...after, ...address, updated_at: at });
  });
}

type Changeable = Pick<MemberRow, "first_name" | "last_name" | "role" | "display_language">;

/** The values after the change. */
function wanted(request: UpdateMemberRequest, before: MemberRow): Changeable & Pick<MemberRow, "email"> {
  const { email, firstName, lastName, role, displayLanguage, updateMask } = request;
  const values = {
    email,
    first_name: firstName,
    last_name: lastName,
    role,
    display_language: displayLanguage,
  };
  const fields = fieldsToChange(values, updateMask?.paths);
  return {
    email: fields.has("email") ? email.toLowerCase() : before.email,
    first_name: fields.has("first_name") ? firstName : before.first_name,
    last_name: fields.has("last_name") ? lastName : before.last_name,
    role: (fields.has("role") ? fromRole(role) : undefined) ?? before.role,
    display_language: fields.has("display_language") ? displayLanguage : before.display_language,
  };
}

function isSame(after: Changeable, before: MemberRow): boolean {
  return (["first_name", "last_name", "role", "display_language"] as const).every(
    (column) => after[column] === before[column],
  );
}
