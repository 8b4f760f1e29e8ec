import sharp from "sharp";
import { answerOnce } from "../../lib/images/ask-process.ts";
import { pageTheme } from "../../model/look/page-theme.ts";
import { drawPage, page } from "../../pages/picture/draw-page.ts";
import { createPainter, scale, type ThemeFiles } from "./page-painter.ts";

/** A page to draw as WEBP. */
export interface PageDrawing extends ThemeFiles {
  /** The stored look of its theme. */
  readonly styling: unknown;
}

answerOnce(async ({ styling, cover, badge }: PageDrawing) => {
  const svg = await drawPage(pageTheme(styling), cover !== undefined, createPainter({ cover, badge }));
  const width = Math.round(page.width * scale);
  const picture = sharp(Buffer.from(svg), { density: 72 * scale }).resize({ width });
  return picture.webp({ quality: 85 }).toBuffer();
});
