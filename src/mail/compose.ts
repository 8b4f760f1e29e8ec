import type { MailFacts, MailKind } from "../model/mail.ts";
import { mailLanguageOf, wordsOf } from "./languages.ts";
import { type LetterContext, letterFactsOf } from "./letter-facts.ts";
import { plainName } from "./plain-name.ts";
import { htmlOf, textOf } from "./render.ts";

/** Who sends mails, from `MAIL_FROM`. */
export interface Sender {
  readonly name: string;
  readonly address: string;
}

/** A mail that is ready to be sent. */
export interface Message {
  readonly from: Sender;
  readonly to: Sender;
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  readonly messageId: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ComposeContext extends Omit<LetterContext, "language"> {
  readonly mailId: string;
  readonly to: string;
  readonly from: Sender;
  readonly workspace: string;
  readonly firstName: string;
  readonly displayLanguage: string;
  /** The service's address, for the mail's last line. */
  readonly baseUrl: string;
}

/** Writes a mail. The same mail has the same Message-ID each time, so that one that is sent twice is shown once. */
export function compose<Kind extends MailKind>(
  kind: Kind,
  facts: MailFacts[Kind],
  context: ComposeContext,
): Message {
  const language = mailLanguageOf(context.displayLanguage);
  const words = wordsOf(language);
  const workspace = plainName(context.workspace);
  const letter = words.letters[kind]({ ...letterFactsOf(kind, facts, { ...context, language }), workspace });
  const whole = {
    ...letter,
    language,
    greeting: words.greeting(context.firstName === "" ? "" : plainName(context.firstName)),
    footer: words.footer(workspace, context.baseUrl),
  };
  const { mailId, from, to } = context;
  return {
    from,
    to: { name: "", address: to },
    envelope: { from: from.address, to: [to] },
    messageId: `<${mailId}@${from.address.slice(from.address.lastIndexOf("@") + 1)}>`,
    subject: letter.subject,
    text: textOf(whole),
    html: htmlOf(whole),
    headers: {
      // Keeps automatic answers away (RFC 3834).
      "Auto-Submitted": "auto-generated",
      "Content-Language": language,
      // Only the digest comes unasked.
      ...(kind === "digest" && {
        "List-Unsubscribe": `<mailto:${from.address}?subject=unsubscribe%20${context.workspaceId}>`,
      }),
    },
  };
}
