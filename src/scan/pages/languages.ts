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
} as const satisfies Record<string, Words>;

/** A language that pages have words in: its primary subtag of BCP 47. */
export type Language = keyof typeof words;

export const languages = Object.keys(words).filter(isLanguage);

const rightToLeft: ReadonlySet<Language> = new Set<Language>(["ar", "fa", "he", "ur"]);

/** The language of an `Accept-Language` header that the visitor prefers among ours; English when there is none. */
export function pickLanguage(header: string | undefined): Language {
  // Browsers send fewer than 100 bytes, so a longer header is not read to its end.
  const ranges = (header ?? "").slice(0, 500).split(",");
  let best: Language = "en";
  let bestWeight = 0;
  for (const range of ranges) {
    const [tag = "", ...parameters] = range
      .toLowerCase()
      .split(";")
      .map((part) => part.trim());
    const primary = tag.split("-", 1)[0] ?? "";
    // The code of Hebrew until 1989, which some Java systems still send.
    const language = primary === "iw" ? "he" : primary;
    const weight = weightOf(parameters);
    if (weight <= bestWeight || !isLanguage(language)) continue;
    best = language;
    bestWeight = weight;
  }
  return best;
}

function weightOf(parameters: readonly string[]): number {
  const quality = parameters.find((parameter) => parameter.startsWith("q="));
  return quality === undefined ? 1 : Number(quality.slice(2)) || 0;
}

function isLanguage(text: string): text is Language {
  return Object.hasOwn(words, text);
}

export function wordsOf(language: Language): Words {
  return words[language];
}

export function directionOf(language: Language): "ltr" | "rtl" {
  return rightToLeft.has(language) ? "rtl" : "ltr";
}

/** Seconds from now in words, such as "in 5 seconds" or "in 15 Minuten". */
export function inWords(language: Language, seconds: number): string {
  const format = new Intl.RelativeTimeFormat(language);
  return seconds < 120 ? format.format(seconds, "second") : format.format(Math.ceil(seconds / 60), "minute");
}
