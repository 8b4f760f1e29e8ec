import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { faces } from "../../gen/fonts.ts";
import { builtInTheme, type PageTheme, pageTheme } from "../model/look/page-theme.ts";
import { fontFaces } from "./font-faces.ts";

const vendored = new URL("../../vendor/fonts/", import.meta.url);
const font = (family: string, more: object = {}) => ({
  family: `PAGE_THEME_FONT_FAMILY_${family}`,
  ...more,
});
const themeOf = (title: object, body: object, elementFont: object): PageTheme =>
  pageTheme({ titleFont: title, bodyFont: body, elementFont });

/** The files that the rules name. */
function filesOf(theme: PageTheme, text = "Hello"): string[] {
  return [...fontFaces(theme, () => text).matchAll(/url\(\/_p\/fonts\/([^)]+)\)/g)].map(
    ([, name = ""]) => name,
  );
}

test("a theme in the fonts of systems, or in families of its own, loads no font", () => {
  const own = font("GEORGIA", { familyStack: "Inter, serif" });
  for (const theme of [builtInTheme, pageTheme({}), themeOf(font("DEFAULT"), font("UNSPECIFIED"), own)])
    expect(fontFaces(theme, () => "Hello")).toBe("");
});

test("every file bears the hash of its bytes, and no file is left over", () => {
  const listed = Object.values(faces).flatMap((styles) =>
    Object.values(styles).flatMap((face): string[] => Object.values(face.files)),
  );
  expect(new Set(readdirSync(vendored).filter((name) => name.endsWith(".woff2")))).toEqual(new Set(listed));
  for (const name of listed) {
    const bytes = readFileSync(new URL(name, vendored));
    expect(name).toContain(`.${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}.`);
    // Two of them are at most 60 kB.
    expect(bytes.length).toBeLessThan(30_000);
  }
});

test("a page loads at most two files, of its title and its text, whatever its families and faces", () => {
  const families = ["DEFAULT", "ARIAL", "HELVETICA", "VERDANA", "GEORGIA", "TIMES_NEW_ROMAN", "COURIER_NEW"];
  const fonts = families.flatMap((family) => [font(family), font(family, { bold: true, italic: true })]);
  for (const title of fonts)
    for (const body of fonts)
      for (const element of fonts)
        expect(filesOf(themeOf(title, body, element)).length).toBeLessThanOrEqual(2);
  expect(filesOf(themeOf(font("GEORGIA", { bold: true }), font("ARIAL"), font("COURIER_NEW")))).toEqual([
    expect.stringMatching(/^gelasio-700-latin/),
    expect.stringMatching(/^arimo-400-latin/),
  ]);
});

test.each([
  ["Crème brûlée, 5 €", "latin"],
  ["Добро пожаловать в café", "cyrillic"],
  ["Καλώς ήρθατε", "greek"],
  ["ようこそ", "latin"],
  ["Łódź and α", "latin"],
])("%s loads the alphabet that most of it is in, %s", (text, script) => {
  const theme = themeOf(font("TIMES_NEW_ROMAN"), font("TIMES_NEW_ROMAN", { bold: true }), font("DEFAULT"));
  expect(filesOf(theme, text).map((name) => name.split(".")[0])).toEqual([
    `tinos-400-${script}`,
    `tinos-700-${script}`,
  ]);
});

test("text shows at once in a font of the device as wide as the one that comes, which the device may have itself", () => {
  const css = fontFaces(
    themeOf(font("ARIAL", { bold: true }), font("DEFAULT"), font("DEFAULT")),
    () => "Hello",
  );
  expect(css).toMatch(/src:local\("Arial Bold"\),local\("Liberation Sans Bold"\),url\(/);
  expect(css).toContain("font-display:swap");
  expect(css).toMatch(/local\("Roboto Bold"\);size-adjust:\d+(?:\.\d)?%;ascent-override:/);
});
