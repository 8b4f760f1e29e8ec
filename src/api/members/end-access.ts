import { type Db, inTransaction } from "../../db/open.ts";
import { endGrants } from "../../oauth/grants.ts";
import { closeChallenges } from "../../people/challenges.ts";
import { endSessions } from "../../people/end-sessions.ts";
import type { Caller } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import type { MemberRow } from "./queries.ts";
import { checkLeavesAdmin, noSuchMember } from "./rules.ts";
import { deleteMember, lockMember, lockMembers, releaseEmail, writeMember } from "./writes.ts";

type Surroundings = Pick<Deps, "now"> & { readonly caller: Caller };

/** Runs with a locked member, while no other call changes who administers the workspace. */
function withMember<Outcome>(
  db: Db,
  id: string,
  { workspaceId }: Caller,
  run: (tx: Db, member: MemberRow) => Promise<Outcome>,
): Promise<Outcome> {
  return inTransaction(db, async (tx) => {
    await lockMembers(tx, workspaceId);
    const member = await lockMember(tx, workspaceId, id);
    if (member === undefined) throw noSuchMember(id);
    return run(tx, member);
  });
}

/** Lifts a suspension; changes nothing for an active member. */
export function allowAccess(db: Db, id: string, { caller, now }: Surroundings): Promise<MemberRow> {
  return withMember(db, id, caller, async (tx, member) =>
    member.access_revoked_at === null
      ? member
      : writeMember(tx, member, { access_revoked_at: null, updated_at: now() }),
  );
}

/** Suspends a member and ends all sessions and grants; changes nothing for a suspended member. */
export function revokeAccess(db: Db, id: string, { caller, now }: Surroundings): Promise<MemberRow> {
  return withMember(db, id, caller, async (tx, member) => {
    if (member.access_revoked_at !== null) return member;
    await checkLeavesAdmin(tx, member, { deed: "suspend", callerId: caller.memberId });
    await endSessions(tx, { workspaceId: caller.workspaceId, memberId: id });
    const at = now();
    await endGrants(tx, { workspaceId: caller.workspaceId, memberId: id }, at);
    return writeMember(tx, member, { access_revoked_at: at, updated_at: at });
  });
}

/** Ends all sessions of a member, those of the caller too. The record stays as it is. */
export function forceSignout(db: Db, id: string, { caller }: Surroundings): Promise<MemberRow> {
  return withMember(db, id, caller, async (tx, member) => {
    await endSessions(tx, { workspaceId: caller.workspaceId, memberId: id });
    return member;
  });
}

/** Deletes a member and all grants for good. Sessions end, because nobody is there whose epoch could match. */
export function removeMember(db: Db, id: string, { caller, now }: Surroundings): Promise<void> {
  return withMember(db, id, caller, async (tx, member) => {
    await checkLeavesAdmin(tx, member, { deed: "delete", callerId: caller.memberId });
    const deleted = { workspaceId: caller.workspaceId, memberId: id };
    await endGrants(tx, deleted, now());
    await closeChallenges(tx, deleted, now());
    await releaseEmail(tx, member);
    await deleteMember(tx, member);
  });
}
