import type { UpdateMyselfRequest } from "../../../gen/signpost/v1/members_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { networkOf } from "../../lib/client-address.ts";
import { type Fault, fail, invalidArgument } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { closeChallenges } from "../../people/challenges.ts";
import { endSessions } from "../../people/end-sessions.ts";
import type { PasswordGate } from "../../people/passwords.ts";
import { isOpen, standingOf } from "../../people/standing.ts";
import type { Caller } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { changeEmail } from "./change-email.ts";
import type { MemberRow } from "./queries.ts";
import { emailFaults } from "./update-member.ts";
import { lockMember, writeMember } from "./writes.ts";

/** Neither the address nor the password can be cleared. */
export function myselfFaults(request: UpdateMyselfRequest): readonly Fault[] {
  const hasEmptyPassword = fieldsOf(request).has("password") && request.password === "";
  const faults = hasEmptyPassword ? [invalidArgument("password", "must have at least 12 characters")] : [];
  return [...emailFaults(request), ...faults];
}

function fieldsOf({ email, firstName, lastName, password, updateMask }: UpdateMyselfRequest) {
  return fieldsToChange({ email, first_name: firstName, last_name: lastName, password }, updateMask?.paths);
}

/**
 * The hash of the new password; undefined when the password stays. It is made before the transaction begins, in line with those
 * of sign-in. Throws RESOURCE_EXHAUSTED when too many wait.
 */
export async function newPasswordHash(
  request: UpdateMyselfRequest,
  passwords: Pick<PasswordGate, "hash">,
  address: string,
): Promise<string | undefined> {
  return fieldsOf(request).has("password") ? passwords.hash(request.password, networkOf(address)) : undefined;
}

/**
 * Whether the caller's session goes on by the locked row. The pipeline knows the row as it was up to 5 s ago: a session that
 * has ended since must not set a password that outlasts its end.
 */
function goesOn({ sessionId, sessionEpoch: epoch }: Caller, row: MemberRow): boolean {
  return sessionId !== undefined && epoch !== undefined && isOpen({ sessionId, epoch }, standingOf(row));
}

/**
 * Changes the caller. A new password ends the caller's other sessions, and the links and codes that were mailed meet nothing
 * any more.
 */
export function updateMyself(
  db: Db,
  request: UpdateMyselfRequest,
  options: Pick<Deps, "now" | "jobCall"> & {
    readonly caller: Caller;
    readonly memberId: string;
    readonly passwordHash: string | undefined;
  },
): Promise<MemberRow> {
  const { caller, memberId, now, jobCall, passwordHash } = options;
  const { workspaceId, sessionId } = caller;
  const fields = fieldsOf(request);
  return inTransaction(db, async (tx) => {
    const before = await lockMember(tx, workspaceId, memberId);
    if (before === undefined || !goesOn(caller, before)) {
      throw fail("UNAUTHENTICATED", "UNAUTHENTICATED", "the session has ended; sign in again");
    }
    const email = fields.has("email") ? request.email.toLowerCase() : before.email;
    const first_name = fields.has("first_name") ? request.firstName : before.first_name;
    const last_name = fields.has("last_name") ? request.lastName : before.last_name;
    const isMoved = email !== before.email;
    const isNamed = first_name !== before.first_name || last_name !== before.last_name;
    if (!isMoved && !isNamed && passwordHash === undefined) return before;
    const at = now();
    if (passwordHash !== undefined) {
      await closeChallenges(tx, { workspaceId, memberId }, at);
      await endSessions(tx, { workspaceId, memberId }, sessionId);
    }
    const address = isMoved ? await changeEmail(tx, before, { email, at, jobCall }) : {};
    const password = passwordHash === undefined ? {} : { password_hash: passwordHash };
    return writeMember(tx, before, { first_name, last_name, ...address, ...password, updated_at: at });
  });
}
