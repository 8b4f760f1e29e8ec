import { timingSafeEqual } from "node:crypto";
import type { Db } from "../db/open.ts";
import type { QueuedJobs } from "../model/jobs.ts";
import type { MailFacts, MailKind } from "../model/mail.ts";
import { challengeCode, makeChallenge, type NamedChallenge } from "./challenges.ts";
import { mailOrder } from "./mail-order.ts";
import type { SigningMember } from "./members.ts";

/** Queues a mail in the caller's transaction. */
export type QueueMail = (db: Db, mail: QueuedJobs["send-mail"]) => Promise<void>;

type Addressee = Pick<SigningMember, "workspaceId" | "memberId" | "email">;

/** Queues a mail to a member in the caller's transaction. */
export async function mailMember<Kind extends MailKind>(
  { db, queueMail }: { readonly db: Db; readonly queueMail: QueueMail },
  member: Addressee,
  { kind, facts, at }: { readonly kind: Kind; readonly facts: MailFacts[Kind]; readonly at: Date },
): Promise<void> {
  await queueMail(db, mailOrder(kind, facts, { ...member, at }));
}

/** The most wrong codes of one challenge. */
const triesMax = 5;

/** Who asks for a code again within this time, in milliseconds, is to use the one that was sent. */
const resendMs = 2 * 60_000;

/** Mails a code, unless one was mailed just before. Returns its challenge. */
export async function sendCode(
  { db, queueMail }: { readonly db: Db; readonly queueMail: QueueMail },
  member: Addressee,
  at: Date,
): Promise<NamedChallenge> {
  const { workspaceId } = member;
  return db.transaction().execute(async (tx) => {
    const sent = await newestCode(tx, member, at);
    if (sent !== undefined && sent.created_at.getTime() > at.getTime() - resendMs)
      return { workspaceId, challengeId: sent.id };
    const challengeId = await makeChallenge(tx, member, { kind: "SIGN_IN_CODE", at });
    await mailMember({ db: tx, queueMail }, member, { kind: "sign-in-code", facts: { challengeId }, at });
    return { workspaceId, challengeId };
  });
}

/** The newest code of a member that can still be used. */
export async function openCode(db: Db, member: Addressee, at: Date): Promise<NamedChallenge | undefined> {
  const code = await newestCode(db, member, at);
  return code && { workspaceId: member.workspaceId, challengeId: code.id };
}

function newestCode(db: Db, { workspaceId, memberId, email }: Addressee, at: Date) {
  return db
    .selectFrom("member_challenges")
    .select(["id", "created_at"])
    .where("workspace_id", "=", workspaceId)
    .where("member_id", "=", memberId)
    .where("kind", "=", "SIGN_IN_CODE")
    .where("email", "=", email)
    .where("used_at", "is", null)
    .where("expires_at", ">", at)
    .where("tries", "<", triesMax)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
}

/**
 * Uses a code up. It counts the try before it compares, in one statement that locks the row: of simultaneous tries in
 * all processes five are compared, and one of two right ones is let in. Returns whose code it was, when it was right.
 */
export async function useCode(
  { db, challengeKey }: { readonly db: Db; readonly challengeKey: Uint8Array },
  { workspaceId, challengeId }: NamedChallenge,
  code: string,
  at: Date,
): Promise<{ readonly memberId: string; readonly email: string } | undefined> {
  const tried = await db
    .updateTable("member_challenges")
    .set((eb) => ({ tries: eb("tries", "+", 1) }))
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", challengeId)
    .where("kind", "=", "SIGN_IN_CODE")
    .where("used_at", "is", null)
    .where("expires_at", ">", at)
    .where("tries", "<", triesMax)
    .returning(["member_id as memberId", "email"])
    .executeTakeFirst();
  const given = Buffer.from(code.replaceAll(/\s/g, ""));
  const wanted = Buffer.from(challengeCode(challengeKey, challengeId));
  if (tried === undefined || given.length !== wanted.length || !timingSafeEqual(given, wanted))
    return undefined;
  const { numUpdatedRows } = await db
    .updateTable("member_challenges")
    .set({ used_at: at })
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", challengeId)
    .where("used_at", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n ? tried : undefined;
}
