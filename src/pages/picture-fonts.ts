import { fileURLToPath } from "node:url";
import type { Font, FontFamily } from "../model/look/page-theme.ts";

/** A font for texts in pictures of pages. */
export interface PictureFont {
  /** As libraries that paint texts know it, such as `Arimo Bold`. */
  readonly name: string;
  readonly file: string;
}

/** What stands in for the families of themes. A font of the visitor's system is Inter in pictures. */
const families = {
  UNSPECIFIED: "Inter",
  DEFAULT: "Inter",
  ARIAL: "Arimo",
  HELVETICA: "Arimo",
  VERDANA: "DejaVu Sans",
  GEORGIA: "Gelasio",
  TIMES_NEW_ROMAN: "Tinos",
  COURIER_NEW: "Cousine",
} as const satisfies Record<FontFamily, string>;

/** The same for names in lists of families, in small letters. */
const names: ReadonlyMap<string, string> = new Map([
  ...Object.values(families).map((name) => [name.toLowerCase(), name] as const),
  ...Object.entries(families).map(
    ([name, drawn]) => [name.toLowerCase().replaceAll("_", " "), drawn] as const,
  ),
  ["serif", "Gelasio"],
  ["ui-serif", "Gelasio"],
  ["monospace", "Cousine"],
  ["ui-monospace", "Cousine"],
]);

/** The font that comes with the service for a font of a theme: the machines that it runs on often have none. */
export function pictureFont({
  family,
  stack,
  bold,
  italic,
}: Pick<Font, "family" | "stack" | "bold" | "italic">): PictureFont {
  const drawn = stack === undefined ? families[family] : familyOf(stack);
  if (drawn === "Inter") {
    const [style, face] = bold ? [" Bold", "700Bold"] : ["", "400Regular"];
    const file = import.meta.resolve(`@expo-google-fonts/inter/${face}/Inter_${face}.ttf`);
    return { name: `Inter${style}`, file: fileURLToPath(file) };
  }
  const style = `${bold ? 700 : 400}${italic ? "i" : ""}`;
  const file = new URL(
    `../../vendor/fonts/pictures/${drawn.toLowerCase().replace(" ", "-")}-${style}.ttf`,
    import.meta.url,
  );
  return { name: `${drawn}${bold ? " Bold" : ""}${italic ? " Italic" : ""}`, file: fileURLToPath(file) };
}

/** The first family of a list that pictures have, or a font of the kind that is named in it. */
function familyOf(stack: string): string {
  const wanted = stack.split(",").map((name) => name.replaceAll('"', "").trim().toLowerCase());
  return wanted.flatMap((name) => names.get(name) ?? [])[0] ?? "Inter";
}
