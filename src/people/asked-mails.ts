import { type Db, inTransaction } from "../db/open.ts";
import { makeChallenge } from "./challenges.ts";
import { memberByEmail } from "./members.ts";
import { mailMember, type QueueMail } from "./sign-in-code.ts";

/**
 * Mails the link for a new password to the member with an address, or the invitation once more to one who has not
 * accepted it. Does nothing for other addresses. It runs as a job, so that whoever asked learns nothing by the time it
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
    const kind = isPending ? "invitation" : "password-reset";
    await mailMember({ db: tx, queueMail }, member, { kind, facts: { challengeId }, at });
  });
}
