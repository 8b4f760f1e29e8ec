import type { Logger } from "pino";
import type { Db } from "../db/open.ts";
import type { QueuedJobs } from "../model/jobs.ts";
import type { MailFacts, MailKind } from "../model/mail.ts";
import { compose, type Message, type Sender } from "./compose.ts";
import { type Outbox, Refused } from "./outbox.ts";
import { findRecipient, type Recipient } from "./queries.ts";

export interface SendMailDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly outbox: Outbox;
  readonly from: Sender;
  readonly challengeKey: Uint8Array;
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly log: Logger;
}

type Payload = QueuedJobs["send-mail"];

/**
 * Sends one mail. It throws while the mail server is away or says to come back, and the queue tries again with growing
 * delays, for four days. A mail that the server refuses for good is logged and given up, and so is one that nobody can use any more.
 */
export function sendMail(deps: SendMailDeps): (payload: Payload, signal: AbortSignal) => Promise<void> {
  const { db, now, outbox, log } = deps;
  return async (payload, signal) => {
    const { mailId, workspaceId, kind } = payload;
    // The calls that queue mails wrote the facts of the kind.
    const facts = JSON.parse(payload.facts) as MailFacts[MailKind];
    const challengeId = "challengeId" in facts ? facts.challengeId : undefined;
    const recipient = await findRecipient(db, payload, { challengeId, at: now() });
    const about = { mailId, workspaceId, kind };
    if (recipient === undefined || isPointless(recipient, kind, challengeId)) {
      log.info(about, "a mail was dropped, because nobody can use it any more");
      return;
    }
    if (recipient.environment === "test") return;
    try {
      const file = await outbox.deliver(mailId, messageOf(deps, payload, { facts, recipient }), signal);
      if (file === undefined) log.info(about, "a mail was sent");
      else log.info({ ...about, file }, "a mail was kept as a file, because SMTP_URL is not set");
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      log.warn({ ...about, err: error }, "a mail was given up");
    }
  };
}

/**
 * Whether the workspace of a mail is deleted, its challenge is met or over, or its member is gone. An old address is told of the new one even when the member
 * is gone.
 */
function isPointless(recipient: Recipient, kind: MailKind, challengeId: string | undefined): boolean {
  if (recipient.isDeleted && kind !== "workspace-deleted") return true;
  if (challengeId !== undefined && recipient.isOpen !== true) return true;
  return recipient.memberId === null && kind !== "email-changed";
}

function messageOf(
  { from, challengeKey, authUrl, baseUrl }: SendMailDeps,
  { mailId, workspaceId, kind, to }: Payload,
  { facts, recipient }: { readonly facts: MailFacts[MailKind]; readonly recipient: Recipient },
): Message {
  const { workspace, timezone, firstName, displayLanguage } = recipient;
  // The facts belong to the kind, which the compiler cannot know of a payload.
  return compose(kind, facts as never, {
    mailId,
    workspaceId,
    workspace,
    timezone,
    firstName: firstName ?? "",
    displayLanguage: displayLanguage ?? "",
    to,
    from,
    challengeKey,
    authUrl,
    baseUrl,
  });
}
