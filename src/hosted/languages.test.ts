import { expect, test } from "vitest";
import { directionOf, inWords, languages } from "../pages/languages.ts";
import { visitorLanguage, wordsOf } from "./languages.ts";

test.each([
  [undefined, "en"],
  ["", "en"],
  ["*", "en"],
  ["de", "de"],
  ["de-AT,de;q=0.9,en;q=0.8", "de"],
  ["sv, fr;q=0.4, es;q=0.5", "es"],
  ["en;q=0, it;q=0.1", "it"],
  ["PT-br", "pt"],
  ["iw-IL", "he"],
  ["zh-Hant-TW;q=0.9, ja", "ja"],
  ["nl;q=x, pl;q=0.001", "pl"],
  ["constructor, __proto__, toString", "en"],
  [`${"x,".repeat(50_000)}de`, "en"],
])("picks of %j the language %s", (header, language) => {
  expect(visitorLanguage(header?.slice(0, 200_000))).toBe(language);
});

test("has words in sixteen languages, each complete, and with the places for what is put in", () => {
  expect(languages).toHaveLength(16);
  const shape = JSON.stringify(wordsOf("en"), blank);
  for (const language of languages) {
    const words = wordsOf(language);
    expect(JSON.stringify(words, blank), language).toBe(shape);
    expect(JSON.stringify(words), language).not.toContain('""');
    expect(words.rating, language).toContain("{rating}");
    expect(words.goesOn, language).toContain("{when}");
    expect(words.madeWith, language).toContain("{service}");
    expect(words.notices.TOO_MANY_TRIES.text, language).toContain("{when}");
  }
});

function blank(_: string, value: unknown): unknown {
  return typeof value === "string" ? "" : value;
}

test("writes Arabic, Hebrew, Persian and Urdu from right to left, and nothing else", () => {
  expect(
    languages.filter((language) => directionOf(language) === "rtl").toSorted((a, b) => (a < b ? -1 : 1)),
  ).toEqual(["ar", "fa", "he", "ur"]);
});

test("says spans of time in the visitor's language, in minutes when they are long", () => {
  expect(inWords("en", 1)).toBe("in 1 second");
  expect(inWords("pl", 5)).toBe("za 5 sekund");
  expect(inWords("de", 119)).toBe("in 119 Sekunden");
  expect(inWords("de", 121)).toBe("in 3 Minuten");
});
