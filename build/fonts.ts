import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/*
 * Makes the files of `vendor/fonts` and their list, `gen/fonts.ts`: `npm run fonts`. It takes the fonts and the two
 * libraries that read them from npm, into a folder of its own, so that nobody else installs them.
 */
const packages = [
  "@capsizecss/unpack@4.0.1",
  "@expo-google-fonts/arimo@0.4.3",
  "@expo-google-fonts/cousine@0.4.3",
  "@expo-google-fonts/gelasio@0.4.1",
  "@expo-google-fonts/noto-serif@0.4.1",
  "@expo-google-fonts/roboto@0.4.1",
  "@expo-google-fonts/tinos@0.4.2",
  "@fontsource/dejavu-mono@5.3.0",
  "@fontsource/dejavu-sans@5.3.0",
  "@fontsource/dejavu-serif@5.3.0",
  "subset-font@2.9.0",
];

/** Subsets a font to the characters of a text. */
type Subset = (font: Buffer, text: string, options: object) => Promise<Buffer>;

interface Metrics {
  readonly unitsPerEm: number;
  readonly ascent: number;
  readonly descent: number;
  /** The average width of a character in Latin text. */
  readonly xWidthAvg: number;
}

const styles = ["400", "700", "400i", "700i"] as const;
type Style = (typeof styles)[number];

/** What every file has: ASCII, and the quotes, dashes and signs that texts of all languages use. */
const common = `${between(0x20, 0x7e)}\u00a0\u00ab\u00bb\u2010\u2011\u2012\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2022\u2026\u2039\u203a\u20ac\u2122`;
const scripts = {
  latin: `${common}${between(0xa1, 0x17f)}${between(0x218, 0x21b)}\u1e9e`,
  cyrillic: `${common}${between(0x400, 0x45f)}\u0490\u0491\u20b4\u20bd\u2116`,
  greek: `${common}${between(0x370, 0x3ff)}`,
} as const;
type Script = keyof typeof scripts;

/** The families that pages load, with the fonts that a phone or a desktop computer shows until they have come. */
const families: Readonly<
  Record<string, { readonly scripts: readonly Script[]; readonly fallbacks: readonly string[] }>
> = {
  arimo: { scripts: ["latin", "cyrillic", "greek"], fallbacks: ["roboto", "dejavu-sans"] },
  cousine: { scripts: ["latin", "cyrillic", "greek"], fallbacks: ["dejavu-mono"] },
  "dejavu-sans": { scripts: ["latin", "cyrillic", "greek"], fallbacks: ["roboto"] },
  // It has neither Cyrillic nor Greek letters.
  gelasio: { scripts: ["latin"], fallbacks: ["noto-serif", "dejavu-serif"] },
  tinos: { scripts: ["latin", "cyrillic", "greek"], fallbacks: ["noto-serif", "dejavu-serif"] },
};

const folder = await mkdtemp(join(tmpdir(), "fonts-"));
const target = new URL("../vendor/fonts/", import.meta.url);
await mkdir(new URL("pictures/", target), { recursive: true });
try {
  execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, ...packages]);
  for (const old of await readdir(target)) if (old.endsWith(".woff2")) await rm(new URL(old, target));
  const subset = (await moduleOf<{ readonly default: Subset }>("subset-font", "index.js")).default;
  const { fromFile } = await moduleOf<{ fromFile(path: string): Promise<Metrics> }>(
    "@capsizecss/unpack",
    "dist/fs.mjs",
  );
  const metricsOf = (family: string, style: Style) => fromFile(sourceOf(family, style));
  const listed: Record<string, Record<string, unknown>> = {};
  for (const [family, { scripts: names, fallbacks }] of Object.entries(families)) {
    const faces: Record<string, unknown> = {};
    for (const style of styles) {
      const font = await readFile(sourceOf(family, style));
      const files: Record<string, string> = {};
      for (const script of names) {
        // Phones do not use the instructions for coarse screens, which are half of a file.
        const bytes = await subset(font, scripts[script], { targetFormat: "woff2", noHinting: true });
        const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
        const name = `${family}-${style}-${script}.${hash}.woff2`;
        await writeFile(new URL(name, target), bytes);
        files[script] = name;
      }
      const picture = await subset(font, common, { targetFormat: "sfnt", noHinting: true });
      await writeFile(new URL(`pictures/${family}-${style}.ttf`, target), picture);
      const own = await metricsOf(family, style);
      const adjusted: Record<string, unknown> = {};
      for (const fallback of fallbacks)
        adjusted[fallback] = adjustment(own, await metricsOf(fallback, style));
      faces[style] = { files, fallbacks: adjusted };
    }
    listed[family] = faces;
  }
  await writeFile(new URL("../gen/fonts.ts", import.meta.url), tableOf(listed));
} finally {
  await rm(folder, { recursive: true, force: true });
}

function between(first: number, last: number): string {
  return String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

async function moduleOf<Module>(name: string, file: string): Promise<Module> {
  return (await import(join(folder, "node_modules", name, file))) as Module;
}

function sourceOf(family: string, style: Style): string {
  const isBold = style.startsWith("700");
  const isItalic = style.endsWith("i");
  if (family.startsWith("dejavu-")) {
    const file = `${family}-latin-${isBold ? 700 : 400}-${isItalic ? "italic" : "normal"}.woff2`;
    return join(folder, "node_modules/@fontsource", family, "files", file);
  }
  const name = family.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
  const face = `${isBold ? "700Bold" : "400Regular"}${isItalic ? "_Italic" : ""}`;
  return join(folder, "node_modules/@expo-google-fonts", family, face, `${name}_${face}.ttf`);
}

/** The descriptors with which text in a fallback takes as much room as in the font: its size, ascent and descent, in percent. */
function adjustment(font: Metrics, fallback: Metrics): readonly number[] {
  const size = font.xWidthAvg / font.unitsPerEm / (fallback.xWidthAvg / fallback.unitsPerEm);
  const percent = (units: number) => Number(((units / font.unitsPerEm / size) * 100).toFixed(1));
  return [Number((size * 100).toFixed(1)), percent(font.ascent), percent(Math.abs(font.descent))];
}

function tableOf(faces: object): string {
  const range = (text: string) => {
    const codes = [...new Set(text)].map((letter) => letter.codePointAt(0) ?? 0).sort((a, b) => a - b);
    const parts: [number, number][] = [];
    for (const code of codes) {
      const last = parts.at(-1);
      if (last?.[1] === code - 1) last[1] = code;
      else parts.push([code, code]);
    }
    const hex = (code: number) => code.toString(16);
    return parts.map(([from, to]) => `U+${hex(from)}${from === to ? "" : `-${hex(to)}`}`).join();
  };
  const ranges = Object.fromEntries(Object.entries(scripts).map(([script, text]) => [script, range(text)]));
  return `// Made by build/fonts.ts.

/** Where the files are served, on every host. */
export const fontsPath = "/_p/fonts/";

/** The characters that the files of a script have, in CSS. */
export const characters = ${JSON.stringify(ranges)} as const;

/**
 * The faces of each family: a file for each script, and how a font that a device has must be scaled to take as much room:
 * \`size-adjust\`, \`ascent-override\` and \`descent-override\`, in percent.
 */
export const faces = ${JSON.stringify(faces)} as const;
`;
}
