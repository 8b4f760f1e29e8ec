import { type Db, inTransaction } from "../db/open.ts";
import { makeChallenge } from "./challenges.ts";
import { memberByEmail, type SigningMember } from "./members.ts";
import { mailMember, type QueueMail } from "./sign-in-code.ts";

/**
 * Mails the link for a new password to the member with an address, or to one without a password the invitation, or the
 * link of the sign-up, once more. Does nothing for other addresses. It runs as a job, so that whoever asked learns nothing by the time it
 * takes.
 */
export async function mailReset(
  { db, queueMail, now }: { readonly db: Db; readonly queueMail: QueueMail; readonly now: () => Date },
  email: string,
): Promise<void> {
  const at = now();
  const member = await memberByEmail(db, email);
  if (member === undefined || member.isShutOut) return;
  const isPending = member.passwordHash === null;
  await inTransaction(db, async (tx) => {
    const challengeId = await makeChallenge(tx, member, {
      kind: isPending ? "INVITATION" : "PASSWORD_RESET",
      at,
    });
    const kind = isPending ? await pendingKind(tx, member) : "password-reset";
    await mailMember({ db: tx, queueMail }, member, { kind, facts: { challengeId }, at });
  });
}

/** Who is alone in a workspace was invited by nobody. */
async function pendingKind(
  db: Db,
  { workspaceId, memberId }: SigningMember,
): Promise<"invitation" | "sign-up"> {
  const other = await db
    .selectFrom("members")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "<>", memberId)
    .limit(1)
    .executeTakeFirst();
  return other === undefined ? "sign-up" : "invitation";
}
