import type { Compared, MailFacts, MailKind, QuotaLimit } from "../../model/mail.ts";

/** What a mail says. The same letter becomes the mail's text and its HTML. */
export interface Letter {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** What the reader is asked to do, and the address at which it is done. */
  readonly action?: { readonly label: string; readonly url: string };
  /** A code to type. */
  readonly code?: string;
  /** A list with a title. */
  readonly list?: { readonly title: string; readonly items: readonly string[] };
  /** What follows the action, the code and the list. */
  readonly notes: readonly string[];
}

/**
 * What the words of each kind are given. Every text is one line, and numbers, days and times are written as the language writes
 * them.
 */
export interface LetterFacts {
  readonly invitation: { readonly link: string; readonly days: number };
  readonly "sign-up": { readonly link: string; readonly days: number };
  readonly "email-confirmation": { readonly link: string; readonly days: number };
  readonly "email-changed": { readonly newEmail: string };
  readonly "sign-in-code": { readonly code: string; readonly minutes: number };
  readonly "password-reset": { readonly link: string; readonly minutes: number };
  readonly quota: {
    readonly limit: QuotaLimit;
    readonly percent: 80 | 100;
    readonly used: string;
    readonly allowed: string;
  };
  readonly digest: Pick<MailFacts["digest"], "period" | "visits" | "links" | "visitors" | "mostVisited"> & {
    readonly firstDay: string;
    readonly lastDay: string;
  };
  readonly "webhook-disabled": { readonly url: string; readonly reason: string };
  readonly "domain-away": { readonly domain: string; readonly fault: string; readonly servedUntil: string };
  readonly "workspace-deleted": { readonly restorableUntil: string };
}

/** Everything that mails say in one language. */
export interface Words {
  /** `name` is empty when nobody has told it. */
  readonly greeting: (name: string) => string;
  /** Below each mail: why the reader gets it, and from where. */
  readonly footer: (workspace: string, service: string) => string;
  readonly letters: {
    readonly [Kind in MailKind]: (facts: LetterFacts[Kind] & { readonly workspace: string }) => Letter;
  };
}

/** A number with its noun: `1 visit`, `2,345 visits`. */
export function counter(language: string): (number: number, one: string, other: string) => string {
  const [plurals, numbers] = [new Intl.PluralRules(language), new Intl.NumberFormat(language)];
  return (number, one, other) =>
    `${numbers.format(number)} ${plurals.select(number) === "one" ? one : other}`;
}

/** How a number stands to the one of the period before. */
export function compare({
  now,
  before,
}: Compared): { readonly more: number } | { readonly fewer: number } | "same" {
  if (now === before) return "same";
  return now > before ? { more: now - before } : { fewer: before - now };
}
