import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { languages } from "../../sdk/languages.ts";

const root = join(import.meta.dirname, "../..");
const fences: Readonly<Record<string, string>> = { ts: "typescript" };

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The code blocks of a language in a document, each as its lines without indentation. */
function snippets(document: string, language: string): string[][] {
  return [...document.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, fence = ""]) => (fences[fence] ?? fence) === language)
    .map(([, , text = ""]) => lines(text));
}

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** The first of the wanted lines that does not follow its predecessor in the given lines. */
function firstMissing(wanted: readonly string[], given: readonly string[]): string | undefined {
  let from = 0;
  return wanted.find((line) => {
    const at = given.indexOf(line, from);
    from = at + 1;
    return at === -1;
  });
}

test.each(Object.entries(languages))(
  "what the READMEs show of %s stands, line by line, in a program that the smoke test runs",
  (name, { example }) => {
    const program = lines(read(join("sdk", name, example)));
    const inReadme = snippets(read("README.md"), name);
    const inPackage = snippets(read(join("sdk", name, "README.md")), name);
    expect(inReadme).toHaveLength(1);
    expect(inPackage.length).toBeGreaterThan(1);
    for (const snippet of [...inReadme, ...inPackage]) expect(firstMissing(snippet, program)).toBeUndefined();
  },
);

test("every package that can name its license names the repository's", () => {
  expect(read("LICENSE")).toMatch(/Apache License\s+Version 2\.0/);
  const { license } = JSON.parse(read("sdk/typescript/package.json"));
  expect(license).toBe("Apache-2.0");
  for (const manifest of ["sdk/python/pyproject.toml", "sdk/rust/Cargo.toml"])
    expect(read(manifest)).toMatch(/^license = "Apache-2\.0"$/m);
  expect(read("sdk/java/pom.xml")).toMatch(/<license>\s*<name>Apache-2\.0<\/name>/);
});
