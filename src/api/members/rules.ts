import type { Db } from "../../db/open.ts";
import { type CallError, fail } from "../../lib/errors.ts";
import { notFound } from "../resources/not-found.ts";
import { countMailedLinksUpTo, hasOtherAdmin, type MemberRow } from "./queries.ts";

/** The refusal of a call about a member that the workspace does not have. */
export function noSuchMember(id: string): CallError {
  return notFound("member", "id", id);
}

/** The refusal of an address that somebody in the service signs in with or is invited at. */
export function emailTaken(email: string): CallError {
  return fail(
    "ALREADY_EXISTS",
    "EMAIL_ALREADY_REGISTERED",
    `email: ${email} already has an account or an invitation`,
    {
      fields: [
        { field: "email", description: "must be an address without an account and without an invitation" },
      ],
    },
  );
}

/** Whether a member is invited and has not yet accepted. */
export function isPending({ password_hash, email_verified_at }: MemberRow): boolean {
  return password_hash === null && email_verified_at === null;
}

/**
 * Throws when the member is the caller, or the last one who can administer the workspace. `deed` says what would be done, as in
 * `suspend`. The caller holds the lock of the workspace's members.
 */
export async function checkLeavesAdmin(
  tx: Db,
  member: MemberRow,
  { deed, callerId }: { readonly deed: string; readonly callerId: string | undefined },
): Promise<void> {
  if (member.id === callerId)
    throw fail(
      "FAILED_PRECONDITION",
      "SELF_CHANGE",
      `you cannot ${deed} yourself: ask another administrator`,
    );
  const isActiveAdmin = member.role === "ADMIN" && member.access_revoked_at === null && !isPending(member);
  if (!isActiveAdmin || (await hasOtherAdmin(tx, member.workspace_id, member.id))) return;
  throw fail(
    "FAILED_PRECONDITION",
    "LAST_ADMIN",
    `you cannot ${deed} the last active administrator: make another member an administrator first`,
  );
}

const mailedMax = 1_000;
const dayMs = 24 * 3_600_000;

/**
 * Throws LIMIT_REACHED when a workspace has mailed too many links to new addresses within a day: the service must not become
 * a way to mail strangers.
 */
export async function checkMailRoom(tx: Db, workspaceId: string, at: Date): Promise<void> {
  const since = new Date(at.getTime() - dayMs);
  if ((await countMailedLinksUpTo(tx, workspaceId, { since, max: mailedMax })) < mailedMax) return;
  throw fail(
    "RESOURCE_EXHAUSTED",
    "LIMIT_REACHED",
    `a workspace invites and changes at most ${mailedMax} addresses in 24 hours: try again later`,
    { retryAfterSeconds: 3_600 },
  );
}
