import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { toCss } from "../model/look/color.ts";
import type { FontFamily } from "../model/look/page-theme.ts";
import type { Image, Painter, Text } from "../pages/picture/draw-page.ts";

/** How many pixels of the picture one pixel of the page has. */
export const scale = 1.5;

/** The original files of a theme's images. */
export interface ThemeFiles {
  readonly cover?: Uint8Array | undefined;
  readonly badge?: Uint8Array | undefined;
}

/** Paints texts in the fonts that come with the service, and cuts images of people to size. */
export function createPainter({ cover, badge }: ThemeFiles): Painter {
  return {
    text: paintText,
    cover: async (width, height) =>
      cover === undefined ? undefined : await cut(cover, width, height, "jpeg"),
    badge: async (side) => (badge === undefined ? undefined : await cut(badge, side, side, "png")),
  };
}

async function cut(
  bytes: Uint8Array,
  width: number,
  height: number,
  format: "jpeg" | "png",
): Promise<string> {
  const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
  const image = sharp(bytes).resize(across, down, { fit: "cover" });
  return dataUrl(await image.toFormat(format, { quality: 90 }).toBuffer(), format);
}

async function paintText({ text, font, size, line, color, width }: Text): Promise<Image> {
  const { name, file } = faceOf(font);
  // Pixels of the picture: the points of the library are such at 72 points per inch.
  const pixels = size * scale;
  const painted = sharp({
    text: {
      text: `<span foreground="${toCss({ ...color, alpha: 1 })}">${text}</span>`,
      font: `${name} ${pixels.toFixed(1)}`,
      fontfile: file,
      width: Math.round(width * scale),
      align: "centre",
      wrap: "word-char",
      spacing: Math.max(0, Math.round(pixels * (line - naturalLine))),
      dpi: 72,
      rgba: true,
    },
  });
  const { data, info } = await painted.png().toBuffer({ resolveWithObject: true });
  return { href: dataUrl(data, "png"), width: info.width / scale, height: info.height / scale };
}

function dataUrl(bytes: Buffer, format: "jpeg" | "png"): string {
  return `data:image/${format};base64,${bytes.toString("base64")}`;
}

/** About how high a line of our fonts is without spacing, as a multiple of the size. */
const naturalLine = 1.17;

/** What stands in for the families of themes. A font of the visitor's system is Inter in pictures. */
const families: Readonly<Record<FontFamily, string>> = {
  UNSPECIFIED: "Inter",
  DEFAULT: "Inter",
  ARIAL: "Arimo",
  HELVETICA: "Arimo",
  VERDANA: "DejaVu Sans",
  GEORGIA: "Gelasio",
  TIMES_NEW_ROMAN: "Tinos",
  COURIER_NEW: "Cousine",
};

function faceOf({ family, stack, bold, italic }: Text["font"]): {
  readonly name: string;
  readonly file: string;
} {
  const drawn = stack === undefined ? families[family] : familyOfStack(stack);
  const name = `${drawn}${bold ? " Bold" : ""}${italic ? " Italic" : ""}`;
  const style = `${bold ? 700 : 400}${italic ? "i" : ""}`;
  const file =
    drawn === "Inter"
      ? import.meta.resolve(
          `@expo-google-fonts/inter/${bold ? "700Bold/Inter_700Bold" : "400Regular/Inter_400Regular"}.ttf`,
        )
      : new URL(
          `../../vendor/fonts/pictures/${drawn.toLowerCase().replace(" ", "-")}-${style}.ttf`,
          import.meta.url,
        );
  return { name, file: fileURLToPath(file) };
}

/** The first family of a list that the service has; without one, a font of the kind that the list ends with. */
function familyOfStack(stack: string): string {
  const wanted = stack.split(",").map((name) => name.replaceAll('"', "").trim());
  const known = wanted.flatMap((name): string[] => {
    const family = name.toUpperCase().replaceAll(" ", "_") as FontFamily; // looked up, and left out when it is none
    const own = Object.values(families).find((each) => each.toLowerCase() === name.toLowerCase());
    return [own ?? families[family]].filter((each) => each !== undefined);
  });
  const kinds: Readonly<Record<string, string>> = {
    serif: "Gelasio",
    "ui-serif": "Gelasio",
    monospace: "Cousine",
    "ui-monospace": "Cousine",
  };
  return known[0] ?? kinds[wanted.at(-1) ?? ""] ?? "Inter";
}
