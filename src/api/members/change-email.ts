import type { Db } from "../../db/open.ts";
import { closeChallenges, makeChallenge } from "../../people/challenges.ts";
import { mailOrder } from "../../people/mail-order.ts";
import type { Deps } from "../deps.ts";
import type { MemberRow } from "./queries.ts";
import { checkMailRoom, emailTaken, isPending } from "./rules.ts";
import { queueMails, releaseEmail, takeEmail } from "./writes.ts";

/** The columns that change with an address. */
export type NewEmail = Pick<MemberRow, "email" | "email_verified_at">;

/**
 * Gives a locked member another address: reserves it, mails a link to it, and tells the old one. A pending member gets the
 * invitation anew, and nobody at the old address hears of it. What was mailed to the old address meets nothing any more.
 */
export async function changeEmail(
  tx: Db,
  member: MemberRow,
  { email, at, jobCall }: Pick<Deps, "jobCall"> & { readonly email: string; readonly at: Date },
): Promise<NewEmail> {
  const { workspace_id: workspaceId, id: memberId } = member;
  await checkMailRoom(tx, workspaceId, at);
  if (!(await takeEmail(tx, email, member))) throw emailTaken(email);
  await releaseEmail(tx, member);
  await closeChallenges(tx, { workspaceId, memberId }, at);
  const challenged = { workspaceId, memberId, email };
  if (isPending(member)) {
    const challengeId = await makeChallenge(tx, challenged, { kind: "INVITATION", at });
    await queueMails(tx, jobCall, [mailOrder("invitation", { challengeId }, { ...challenged, at })]);
  } else {
    const challengeId = await makeChallenge(tx, challenged, { kind: "EMAIL_CONFIRMATION", at });
    await queueMails(tx, jobCall, [
      mailOrder("email-confirmation", { challengeId }, { ...challenged, at }),
      mailOrder("email-changed", { newEmail: email }, { ...challenged, email: member.email, at }),
    ]);
  }
  return { email, email_verified_at: null };
}
