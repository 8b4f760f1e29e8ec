import fc from "fast-check";
import { expect, test } from "vitest";
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

test("takes no longer for the worst texts than for twenty times as many plain ones", () => {
  const worst = `${"a".repeat(1_000)}b${"a".repeat(1_000)}`;
  const timed = (text: string, sought: string, times: number) => {
    const startedAt = performance.now();
    for (let time = 0; time < times; time++) contains(text, sought);
    return performance.now() - startedAt;
  };
  const plain = "the quick brown fox ".repeat(205);
  timed(plain, worst, 100);
  expect(timed("a".repeat(4_096), worst, 100)).toBeLessThan(20 * timed(plain, worst, 100) + 20);
});
