import type { MailFacts, MailKind } from "../model/mail.ts";
import { challengeCode, challengeLink, challengeLivesMs } from "../people/challenges.ts";
import type { MailLanguage } from "./languages.ts";
import { plainName } from "./plain-name.ts";
import type { LetterFacts } from "./words/words.ts";

/** What links, codes and times are made with. */
export interface LetterContext {
  readonly workspaceId: string;
  readonly timezone: string;
  readonly language: MailLanguage;
  /** The key of `member-challenges`. */
  readonly challengeKey: Uint8Array;
  /** The address of the pages at which people sign in, without a slash at the end. */
  readonly authUrl: string;
}

const dayMs = 24 * 60 * 60 * 1000;
const minuteMs = 60_000;

type Read<Kind extends MailKind> = (facts: MailFacts[Kind], context: LetterContext) => LetterFacts[Kind];

const readers: { readonly [Kind in MailKind]: Read<Kind> } = {
  invitation: accepting,
  "sign-up": accepting,
  "email-confirmation": ({ challengeId }, context) => ({
    link: linkOf("EMAIL_CONFIRMATION", challengeId, context),
    days: challengeLivesMs.EMAIL_CONFIRMATION / dayMs,
  }),
  "email-changed": ({ newEmail }) => ({ newEmail }),
  "sign-in-code": ({ challengeId }, { challengeKey }) => ({
    code: challengeCode(challengeKey, challengeId),
    minutes: challengeLivesMs.SIGN_IN_CODE / minuteMs,
  }),
  "password-reset": ({ challengeId }, context) => ({
    link: linkOf("PASSWORD_RESET", challengeId, context),
    minutes: challengeLivesMs.PASSWORD_RESET / minuteMs,
  }),
  quota: ({ limit, percent, used, allowed }, { language }) => {
    const number = new Intl.NumberFormat(language);
    return { limit, percent, used: number.format(used), allowed: number.format(allowed) };
  },
  digest: ({ firstDay, lastDay, mostVisited, ...numbers }, { language }) => ({
    ...numbers,
    firstDay: dayText(firstDay, language),
    lastDay: dayText(lastDay, language),
    mostVisited: mostVisited.map(({ name, visits }) => ({ name: plainName(name), visits })),
  }),
  "webhook-disabled": ({ url, reason }) => ({ url: plainName(url), reason: plainName(reason) }),
  "domain-away": ({ domain, fault, servedUntil }, context) => ({
    domain: plainName(domain),
    fault: plainName(fault),
    servedUntil: timeText(servedUntil, context),
  }),
  "workspace-deleted": ({ restorableUntil }, context) => ({
    restorableUntil: timeText(restorableUntil, context),
  }),
};

function accepting(
  { challengeId }: MailFacts["invitation"],
  context: LetterContext,
): LetterFacts["invitation"] {
  return {
    link: linkOf("INVITATION", challengeId, context),
    days: challengeLivesMs.INVITATION / dayMs,
  };
}

/** Makes of the facts of a mail what its words are given. */
export function letterFactsOf<Kind extends MailKind>(
  kind: Kind,
  facts: MailFacts[Kind],
  context: LetterContext,
): LetterFacts[Kind] {
  return readers[kind](facts, context);
}

function linkOf(
  kind: Parameters<typeof challengeLink>[1],
  challengeId: string,
  { workspaceId, challengeKey, authUrl }: LetterContext,
): string {
  return challengeLink({ key: challengeKey, authUrl }, kind, { workspaceId, challengeId });
}

function dayText(day: string, language: MailLanguage): string {
  const format = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" });
  return format.format(new Date(`${day}T00:00:00Z`));
}

function timeText(time: string, { language, timezone }: LetterContext): string {
  const style = { dateStyle: "long", timeStyle: "short" } as const;
  const at = new Date(time);
  try {
    return `${new Intl.DateTimeFormat(language, { ...style, timeZone: timezone }).format(at)} (${timezone})`;
  } catch {
    // A zone that does not exist is UTC everywhere.
    return `${new Intl.DateTimeFormat(language, { ...style, timeZone: "UTC" }).format(at)} (UTC)`;
  }
}
