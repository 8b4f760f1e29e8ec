import sharp from "sharp";
import { answerOnce } from "../lib/images/ask-process.ts";
import { pageTheme } from "../model/look/page-theme.ts";
import { drawPage, page } from "../pages/picture/draw-page.ts";
import { createPainter, scale, type ThemeFiles } from "./page-painter.ts";

/** A page to draw as WEBP: the stored styling of its theme, and the theme's images. */
export interface PageDrawing extends ThemeFiles {
  readonly styling: unknown;
}

answerOnce(async ({ styling, cover, badge }: PageDrawing) => {
  const theme = pageTheme(styling);
  const svg = await drawPage(theme, cover !== undefined, createPainter({ cover, badge }));
  const width = Math.round(page.width * scale);
  return sharp(Buffer.from(svg), { density: 72 * scale })
    .resize({ width })
    .webp({ quality: 85 })
    .toBuffer();
});
