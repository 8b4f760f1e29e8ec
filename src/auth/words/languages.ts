import { type Language, pickLanguage } from "../../pages/languages.ts";
import { arabic } from "./ar.ts";
import { german } from "./de.ts";
import { english } from "./en.ts";
import { spanish } from "./es.ts";
import { french } from "./fr.ts";
import type { Words } from "./words.ts";

const words = { ar: arabic, de: german, en: english, es: spanish, fr: french } as const satisfies Partial<
  Record<Language, Words>
>;

/** A language that sign-in pages have words in. */
export type AuthLanguage = keyof typeof words;

export const authLanguages = Object.keys(words) as AuthLanguage[]; // its keys are no others

const offered: ReadonlySet<AuthLanguage> = new Set(authLanguages);

/** The language of an `Accept-Language` header that the person prefers among ours; English when there is none. */
export function languageOf(header: string | undefined): AuthLanguage {
  return pickLanguage(header, offered);
}

export function wordsOf(language: AuthLanguage): Words {
  return words[language];
}

/** Puts facts into a text with places such as `{email}`, in one pass: a fact is never read for places. */
export function filled(text: string, facts: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (place, name: string) => facts[name] ?? place);
}
