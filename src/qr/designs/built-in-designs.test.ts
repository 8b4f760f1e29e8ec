import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { isDesignReadable, type Scannability, verifyDesign } from "../gate/verify.ts";
import { builtInDesigns } from "./built-in-designs.ts";
import { storedDesign } from "./stored-design.ts";

test("no two built-in designs share a name or a slug", () => {
  expect(builtInDesigns.length).toBeGreaterThanOrEqual(8);
  expect(new Set(builtInDesigns.map(({ name }) => name)).size).toBe(builtInDesigns.length);
  expect(new Set(builtInDesigns.map(({ slug }) => slug)).size).toBe(builtInDesigns.length);
  for (const { slug } of builtInDesigns) expect(slug).toMatch(/^[a-z][a-z-]{2,}$/);
});

const shortAddress = "https://sho.rt/4BnH-R19p?qr";

type Options = Parameters<typeof storedDesign>[0];

/** The verdicts on codes with the short address, which several tests ask for. */
const verdicts = new Map<Options, Promise<Scannability>>();

function verdictOf(options: Options): Promise<Scannability> {
  const verdict = verdicts.get(options) ?? verifyDesign(shortAddress, storedDesign(options).design);
  verdicts.set(options, verdict);
  return verdict;
}

/** Links like those that the service makes, the same in every run. */
const shortLinks = Array.from({ length: 2 }, (_, index) => {
  const path = createHash("sha256").update(String(index)).digest("base64url").slice(0, 9);
  return `https://sho.rt/${path}?qr`;
});

test("the default and at least six built-in designs are of grade A", async () => {
  const graded = await Promise.all([{}, ...builtInDesigns.map(({ options }) => options)].map(verdictOf));
  const [plain, ...builtIn] = graded.map(({ grade }) => grade);
  expect(plain).toBe("A");
  expect(builtIn.filter((grade) => grade === "A").length).toBeGreaterThanOrEqual(6);
});

describe.each(builtInDesigns.map(({ slug, options }) => ({ slug, options })))("$slug", ({ options }) => {
  test.each([
    ["a short address", () => verdictOf(options)],
    [
      "a long address",
      () =>
        verifyDesign(
          "https://links.a-rather-long-name.example.com/spring-campaign-2026?qr",
          storedDesign(options).design,
        ),
    ],
  ])("is read by phones with much to spare, with %s", async (_, verdict) => {
    const { readable, score, failingCase } = await verdict();
    expect({ readable, failingCase }).toEqual({ readable: true, failingCase: undefined });
    expect(score).toBeGreaterThanOrEqual(80);
  });

  test("is readable for whatever short link", async () => {
    const { design } = storedDesign(options);
    const unreadable: string[] = [];
    for (const link of shortLinks) if (!(await isDesignReadable(link, design))) unreadable.push(link);
    expect(unreadable).toEqual([]);
  });
});
