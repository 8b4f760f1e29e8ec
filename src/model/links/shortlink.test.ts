import { expect, test } from "vitest";
import { classifyShortlink, randomShortlink } from "./shortlink.ts";

test("accepts letters, digits, hyphens and underscores with letters or digits at both ends", () => {
  for (const text of ["a", "A9", "summer-sale_2026", "a".repeat(64), "4BnH-R19p", "a--_b"])
    expect(classifyShortlink(text), text).toBe("open");
  for (const text of ["", "-a", "a-", "_a", "a_", "a b", "a/b", "ä", "a".repeat(65), "a.b", "a\n"])
    expect(classifyShortlink(text), JSON.stringify(text)).toBe("invalid");
});

test("keeps the service's own paths to itself in any case", () => {
  for (const text of ["api", "V1", "Health", "robots.txt", ".well-known", "_P", "openapi.JSON", "MCP"])
    expect(classifyShortlink(text), text).toBe("reserved");
});

test("takes whatever looks like an id for one", () => {
  expect(classifyShortlink("0192f3a0-7c1e-7e3a-9b1f-0a2b3c4d5e6f")).toBe("id");
  expect(classifyShortlink("0192F3A0-7C1E-7E3A-9B1F-0A2B3C4D5E6F")).toBe("id");
});

test("makes random short links of two groups whose characters are all about equally frequent", () => {
  const counts = new Map<string, number>();
  const made = new Set<string>();
  for (let i = 0; i < 10_000; i++) {
    const shortlink = randomShortlink();
    expect(shortlink).toMatch(/^[0-9A-Za-z]{4}-[0-9A-Za-z]{4}$/);
    made.add(shortlink);
    for (const character of shortlink.replace("-", ""))
      counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  expect(made.size).toBe(10_000);
  expect(counts.size).toBe(62);
  // 80,000 draws over 62 characters: 1,290 each, with a standard deviation of 36.
  for (const count of counts.values()) expect(Math.abs(count - 1290)).toBeLessThan(290);
});
