import { type Language, languages, pickLanguage } from "../pages/languages.ts";
import { arabic } from "./words/ar.ts";
import { german } from "./words/de.ts";
import { english } from "./words/en.ts";
import { spanish } from "./words/es.ts";
import { persian } from "./words/fa.ts";
import { french } from "./words/fr.ts";
import { hebrew } from "./words/he.ts";
import { hindi } from "./words/hi.ts";
import { italian } from "./words/it.ts";
import { japanese } from "./words/ja.ts";
import { dutch } from "./words/nl.ts";
import { polish } from "./words/pl.ts";
import { portuguese } from "./words/pt.ts";
import { turkish } from "./words/tr.ts";
import { urdu } from "./words/ur.ts";
import type { Words } from "./words/words.ts";
import { chinese } from "./words/zh.ts";

/** The words of hosted pages. */
const words = {
  ar: arabic,
  de: german,
  en: english,
  es: spanish,
  fa: persian,
  fr: french,
  he: hebrew,
  hi: hindi,
  it: italian,
  ja: japanese,
  nl: dutch,
  pl: polish,
  pt: portuguese,
  tr: turkish,
  ur: urdu,
  zh: chinese,
} as const satisfies Record<Language, Words>;

const offered: ReadonlySet<Language> = new Set(languages);

export function wordsOf(language: Language): Words {
  return words[language];
}

/** The language of an `Accept-Language` header that the visitor prefers among ours; English when there is none. */
export function visitorLanguage(header: string | undefined): Language {
  return pickLanguage(header, offered);
}
