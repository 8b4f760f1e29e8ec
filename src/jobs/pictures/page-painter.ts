import sharp from "sharp";
import { toCss } from "../../model/look/color.ts";
import type { Image, Painter, Text } from "../../pages/picture/draw-page.ts";
import { pictureFont } from "../../pages/picture-fonts.ts";

/** How many pixels of the picture one pixel of the page has. */
export const scale = 1.5;

/** The files of a theme's images. */
export interface ThemeFiles {
  readonly cover?: Uint8Array | undefined;
  readonly badge?: Uint8Array | undefined;
}

/** Paints texts in the fonts that come with the service, and cuts images to size. */
export function createPainter({ cover, badge }: ThemeFiles): Painter {
  return {
    text: paintText,
    cover: async (width, height) => cover && (await cut(cover, { width, height, format: "jpeg" })),
    badge: async (side) => badge && (await cut(badge, { width: side, height: side, format: "png" })),
  };
}

interface Cut {
  readonly width: number;
  readonly height: number;
  readonly format: "jpeg" | "png";
}

async function cut(bytes: Uint8Array, { width, height, format }: Cut): Promise<string> {
  const size = { width: Math.round(width * scale), height: Math.round(height * scale) };
  const image = sharp(bytes).resize({ ...size, fit: "cover" });
  return dataUrl(await image.toFormat(format).toBuffer(), format);
}

/** About how high a line of the fonts is, as a multiple of the size. */
const naturalLine = 1.17;

async function paintText({ text, font, size, line, color, width }: Text): Promise<Image> {
  const { name, file } = pictureFont(font);
  const pixels = size * scale;
  const painted = sharp({
    text: {
      text: `<span foreground="${toCss(color)}">${text}</span>`,
      font: `${name} ${pixels.toFixed(1)}`,
      fontfile: file,
      width: Math.round(width * scale),
      align: "centre",
      wrap: "word-char",
      spacing: Math.max(0, Math.round(pixels * (line - naturalLine))),
      // A point is then a pixel.
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
