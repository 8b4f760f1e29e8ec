import { newId } from "../lib/ids.ts";
import type { QueuedJobs } from "../model/jobs.ts";
import type { MailFacts, MailKind } from "../model/mail.ts";
import type { ChallengedMember } from "./challenges.ts";

/** What the job `send-mail` is told, for a mail of this kind to a member. The address may be an old one. */
export function mailOrder<Kind extends MailKind>(
  kind: Kind,
  facts: MailFacts[Kind],
  { workspaceId, memberId, email, at }: ChallengedMember & { readonly at: Date },
): QueuedJobs["send-mail"] {
  return { mailId: newId(at), workspaceId, memberId, kind, to: email, facts: JSON.stringify(facts) };
}
