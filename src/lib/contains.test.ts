import fc from "fast-check";
import { expect, test } from "vitest";
import { usedMs } from "../../test/support/used-ms.ts";
import { contains } from "./contains.ts";

const repeating = fc
  .tuple(fc.stringMatching(/^[ab]{1,3}$/), fc.integer({ min: 1, max: 300 }))
  .map(([text, times]) => text.repeat(times));

test("finds what includes finds, in texts that repeat themselves", () => {
  fc.assert(
    fc.property(fc.array(repeating, { maxLength: 4 }), repeating, fc.nat(), (parts, other, place) => {
      const text = parts.join("b");
      const cut = text.slice(place % (text.length + 1));
      for (const sought of [cut, other, `${cut}${other}`, `${text}a`])
        expect(contains(text, sought)).toBe(text.includes(sought));
    }),
    { seed: 7, numRuns: 300 },
  );
});

test("takes time in proportion to the texts, where includes multiplies their lengths", () => {
  const timed = (length: number, times: number) => {
    const half = "a".repeat(length / 4);
    const text = "a".repeat(length);
    const before = usedMs();
    for (let time = 0; time < times; time++) contains(text, `${half}b${half}`);
    return usedMs() - before;
  };
  timed(4_096, 300);
  // The same number of characters in all; texts that are 64 times as long would take 64 times as long in all.
  expect(timed(262_144, 5)).toBeLessThan(20 * timed(4_096, 320));
});
