import fc from "fast-check";
import { expect, test } from "vitest";
import { portablePattern } from "./portable-pattern.ts";

const key = "^(\\$(email|phone)|[\\p{L}\\p{Nd}_. -]{1,64})$";

test("a pattern without Unicode's classes stays as it is", () => {
  const pattern = "^[A-Za-z0-9\\]-]{3,64}$";
  expect(portablePattern(pattern)).toBe(pattern);
});

test("the portable pattern allows every text that the pattern allows", () => {
  const portable = new RegExp(portablePattern(key));
  fc.assert(
    fc.property(fc.stringMatching(new RegExp(key, "u")), (text) => {
      fc.pre(text.length <= 64);
      expect(portable.test(text)).toBe(true);
    }),
  );
});

test("both patterns agree on ASCII texts", () => {
  const strict = new RegExp(key, "u");
  const portable = new RegExp(portablePattern(key));
  const ascii = fc.string({ unit: "binary-ascii", maxLength: 70 });
  fc.assert(
    fc.property(ascii, (text) => {
      expect(portable.test(text)).toBe(strict.test(text));
    }),
  );
});
