import fc from "fast-check";
import { expect, test } from "vitest";
import { readFormAddress } from "./form-address.ts";
import { questionKeys, slugOf } from "./question-keys.ts";

test.each([
  ["What is your company's size?", "what_is_your_companys_size"],
  ["  E-mail  ", "e_mail"],
  ["Größe (cm)", "größe_cm"],
  ["Ваше имя", "ваше_имя"],
  ["お名前を教えてください。", "お名前を教えてください"],
  ["आपका नाम क्या है?", "आपका_नाम_क्या_है"],
  ["ชื่อ – นามสกุล", "ชื่อ_นามสกุล"],
  ["e\u0301tage", "étage"],
  ["$email", "email"],
  ["__proto__", "proto"],
  ["\u0301 a", "a"],
  ["👍 / 👎", ""],
  ["", ""],
])("the title %j makes the key %j", (title, key) => {
  expect(slugOf(title)).toBe(key);
});

test("titles that make one key are numbered in the order of the form, and a title without words is named by its id", () => {
  const titles = ["Name", "name!", "Name 2", "NAME", "?", "?"];
  const keys = questionKeys(titles.map((title, place) => ({ id: `0a${place}`, title })));
  expect([...keys.values()]).toEqual([
    "name",
    "name_2",
    "name_2_2",
    "name_3",
    "question_0a4",
    "question_0a5",
  ]);
});

test("every question has a key of its own that the API can name, whatever its title, and the same each time", () => {
  const title = fc.oneof(
    fc.string({ unit: "binary", maxLength: 120 }),
    fc.constantFrom("Name", "name", "Name_2", "x".repeat(64), "x".repeat(65), `${"x".repeat(63)}é`),
    fc.string({ unit: fc.constantFrom("_", " ", "é", "𐐀", "ก", "ำ", "'", "$"), maxLength: 90 }),
  );
  const questions = fc.uniqueArray(
    fc.record({ id: fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 1 }), title }),
    {
      selector: ({ id }) => id,
      maxLength: 40,
    },
  );
  fc.assert(
    fc.property(questions, (form) => {
      const keys = questionKeys(form);
      expect(new Set(keys.values()).size).toBe(form.length);
      for (const key of keys.values()) expect(key).toMatch(/^[\p{L}\p{M}\p{Nd}_. -]{1,64}$/u);
      expect(questionKeys(form)).toEqual(keys);
    }),
    { seed: 17, numRuns: 100 },
  );
});

test("a thousand questions of one long title have a thousand short keys", () => {
  const form = (count: number) =>
    Array.from({ length: count }, (_, place) => ({ id: String(place), title: "x".repeat(100_000) }));
  expect([...questionKeys(form(1_000)).values()].at(-1)).toBe(`${"x".repeat(59)}_1000`);
});

const id = "1a-B_cdEFGHijklmnop";

test.each([
  [`https://docs.google.com/forms/d/${id}/viewform?usp=pp_url&entry.1=a`, { formId: id }],
  [`https://docs.google.com/forms/d/${id}`, { formId: id }],
  [`HTTPS://DOCS.GOOGLE.COM/forms/d/${id}/edit#responses`, { formId: id }],
  [`https://docs.google.com/forms/u/2/d/${id}/prefill`, { formId: id }],
  [`https://docs.google.com/a/example.com/forms/d/${id}/viewform`, { formId: id }],
  [`http://docs.google.com/forms/d/e/${id}/viewform`, { publishedId: id }],
  ["https://forms.gle/AbCdEf123", {}],
  ["https://goo.gl/forms/AbCdEf123", {}],
  ["https://forms.gle/", undefined],
  ["https://goo.gl/maps/AbCdEf123", undefined],
  [`https://docs.google.com/document/d/${id}/edit`, undefined],
  [`https://docs.google.com/spreadsheets/d/${id}/forms/d/${id}`, undefined],
  [`https://docs.google.com.example.com/forms/d/${id}/viewform`, undefined],
  [`https://example.com/?next=https://docs.google.com/forms/d/${id}/viewform`, undefined],
  [`ftp://docs.google.com/forms/d/${id}/viewform`, undefined],
  ["https://docs.google.com/forms/d/short/viewform", undefined],
  [`https://docs.google.com/forms/d/${"x".repeat(300)}/viewform`, undefined],
  ["docs.google.com/forms", undefined],
])("of the address %j is known %j", (address, known) => {
  expect(readFormAddress(address)).toEqual(known);
});
