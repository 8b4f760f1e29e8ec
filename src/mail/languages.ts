import { german } from "./words/de.ts";
import { english } from "./words/en.ts";
import { spanish } from "./words/es.ts";
import { french } from "./words/fr.ts";
import type { Words } from "./words/words.ts";

const words = { en: english, de: german, fr: french, es: spanish } as const satisfies Record<string, Words>;

/** A language that mails are written in, as a primary subtag of BCP 47. */
export type MailLanguage = keyof typeof words;

export const mailLanguages = Object.keys(words).filter(isMailLanguage);

function isMailLanguage(text: string): text is MailLanguage {
  return Object.hasOwn(words, text);
}

/** The language of a member's `displayLanguage`, such as `de-AT`; English when mails are not written in it. */
export function mailLanguageOf(displayLanguage: string): MailLanguage {
  const [primary = ""] = displayLanguage.toLowerCase().split("-", 1);
  return isMailLanguage(primary) ? primary : "en";
}

export function wordsOf(language: MailLanguage): Words {
  return words[language];
}
