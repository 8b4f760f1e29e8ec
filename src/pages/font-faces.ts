import { characters, faces, fontsPath } from "../../gen/fonts.ts";
import type { Font, FontFamily, PageTheme } from "../model/look/page-theme.ts";

/** How many files a page loads at most. Text in a face beyond them is drawn from those. */
const facesMax = 2;

/** The families of themes that some devices lack: the fonts of devices to take first, and what stands in for them. */
const families = {
  ARIAL: { local: ["Arial", "Liberation Sans"], drawn: "arimo", generic: "Arial,Helvetica,sans-serif" },
  HELVETICA: {
    local: ["Helvetica", "Arial", "Liberation Sans"],
    drawn: "arimo",
    generic: 'Helvetica,"Helvetica Neue",Arial,sans-serif',
  },
  VERDANA: {
    local: ["Verdana", "DejaVu Sans"],
    drawn: "dejavu-sans",
    generic: "Verdana,Geneva,sans-serif",
  },
  GEORGIA: { local: ["Georgia"], drawn: "gelasio", generic: "Georgia,serif" },
  TIMES_NEW_ROMAN: {
    local: ["Times New Roman", "Liberation Serif"],
    drawn: "tinos",
    generic: '"Times New Roman",Times,serif',
  },
  COURIER_NEW: {
    local: ["Courier New", "Liberation Mono"],
    drawn: "cousine",
    generic: '"Courier New",Courier,monospace',
  },
} as const satisfies Partial<Record<FontFamily, unknown>>;
type LoadedFamily = keyof typeof families;

/** The names that devices know the fallbacks of `gen/fonts.ts` by. */
const fallbackNames = {
  roboto: ["Roboto"],
  "noto-serif": ["Noto Serif"],
  "dejavu-sans": ["DejaVu Sans"],
  "dejavu-serif": ["DejaVu Serif"],
  // The font of Android is as wide.
  "dejavu-mono": ["DejaVu Sans Mono", "Droid Sans Mono"],
} as const;

const systemFont = 'system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif';

/** The families to try for a font of a theme, in CSS. */
export function familiesOf({ family, stack }: Pick<Font, "family" | "stack">): string {
  if (stack !== undefined) return stack;
  if (!isLoaded(family)) return systemFont;
  const name = nameOf(family);
  return `${name},${name}-a,${name}-b,${families[family].generic}`;
}

type Style = keyof (typeof faces)["arimo"];
type Script = keyof typeof characters;

interface Face {
  readonly family: LoadedFamily;
  readonly style: Style;
}

/**
 * The rules that bring the fonts of a theme to devices that lack them; none for a theme in the fonts of systems. A page
 * loads the alphabet of its text, and what is left is drawn in a font of the system.
 */
export function fontFaces(theme: PageTheme, text: () => string): string {
  const needed = facesOf(theme);
  if (needed.length === 0) return "";
  const script = scriptOf(text());
  const known = rules.get(theme)?.get(script);
  if (known !== undefined) return known;
  const css = needed.map((face) => rulesOf(face, script)).join("");
  const ofTheme = rules.get(theme) ?? new Map<Script, string>();
  rules.set(theme, ofTheme.set(script, css));
  return css;
}

const rules = new WeakMap<PageTheme, Map<Script, string>>();

/** The faces that a theme loads, the most visible first. */
function facesOf({ title, body, elementFont }: PageTheme): readonly Face[] {
  const found: Face[] = [];
  // Elements are at least half bold, for which browsers take the bold face.
  for (const { family, stack, bold, italic } of [title, body, { ...elementFont, bold: true }]) {
    if (stack !== undefined || !isLoaded(family)) continue;
    const style: Style = `${bold ? 700 : 400}${italic ? "i" : ""}`;
    const isNew = !found.some((face) => face.family === family && face.style === style);
    if (isNew) found.push({ family, style });
  }
  return found.slice(0, facesMax);
}

/** The alphabet of most letters of a text beside the 26 that all files have. */
function scriptOf(text: string): Script {
  const counts = { latin: 0, greek: 0, cyrillic: 0 };
  for (const [letter] of text.matchAll(/[\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff]/g))
    counts[letter < "\u0370" ? "latin" : letter < "\u0400" ? "greek" : "cyrillic"] += 1;
  if (counts.latin >= Math.max(counts.greek, counts.cyrillic)) return "latin";
  return counts.greek > counts.cyrillic ? "greek" : "cyrillic";
}

function rulesOf({ family, style }: Face, script: Script): string {
  const { local, drawn } = families[family];
  const { files, fallbacks } = faces[drawn][style];
  const name = nameOf(family);
  const file = script in files ? files[script as keyof typeof files] : files.latin;
  return [
    rule(name, style, [
      `src:${localNames(local, style)},url(${fontsPath}${file}) format("woff2")`,
      "font-display:swap",
      `unicode-range:${characters[script]}`,
    ]),
    ...Object.entries(fallbacks).map(([fallback, [size, ascent, descent]], index) =>
      rule(`${name}-${index === 0 ? "a" : "b"}`, style, [
        `src:${localNames(fallbackNames[fallback as keyof typeof fallbackNames], style)}`,
        `size-adjust:${size}%`,
        `ascent-override:${ascent}%`,
        `descent-override:${descent}%`,
        // Arabic in a font that was scaled for Latin letters would be too small.
        "unicode-range:U+20-52f,U+2000-20cf",
      ]),
    ),
  ].join("");
}

function rule(name: string, style: Style, descriptors: readonly string[]): string {
  const slant = style.endsWith("i") ? "font-style:italic;" : "";
  return `@font-face{font-family:${name};font-weight:${style.slice(0, 3)};${slant}${descriptors.join(";")}}`;
}

/** The full names of a face on devices. Makers differ in the words for an upright face and for a slanted one. */
function localNames(names: readonly string[], style: Style): string {
  return names
    .flatMap((name) => {
      if (style === "400") return [name, `${name} Regular`];
      const bold = style.startsWith("7") ? " Bold" : "";
      const slant = name.startsWith("DejaVu") ? " Oblique" : " Italic";
      return [`${name}${bold}${style.endsWith("i") ? slant : ""}`];
    })
    .map((name) => `local("${name}")`)
    .join();
}

function nameOf(family: LoadedFamily): string {
  return `s-${family.toLowerCase().replaceAll("_", "-")}`;
}

function isLoaded(family: FontFamily): family is LoadedFamily {
  return family in families;
}
