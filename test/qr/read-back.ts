import { Resvg } from "@resvg/resvg-js";
import sharp from "sharp";
import type { Design, ImageFormat } from "../../src/qr/drawing/design.ts";
import { renderImage } from "../../src/qr/drawing/render.ts";
import { isDesignReadable } from "../../src/qr/gate/verify.ts";
import { readWithZxing, tryWithZbar } from "../support/qr-readers.ts";

export interface Drawn {
  readonly content: string;
  readonly design: Design;
  readonly format: ImageFormat;
}

/** The result of a drawn code: `unread` names the readers that failed although the gate calls the design readable. */
export interface Outcome {
  readonly readBy: readonly ("zbar" | "zxing")[];
  readonly isRefused: boolean;
}

/**
 * Draws codes as files, reads the files with ZBar and ZXing, and asks the gate about those that one reader does not
 * read. All files of a call go to ZBar at once.
 */
export async function readBack(drawn: readonly Drawn[]): Promise<Outcome[]> {
  const images: Buffer[] = [];
  for (const { content, design, format } of drawn)
    images.push(await asPng(await renderImage(content, design, format), format));
  const byZbar = await tryWithZbar(images);
  const outcomes: Outcome[] = [];
  for (const [index, { content, design }] of drawn.entries()) {
    const [byZxing] = await readWithZxing(images[index] ?? Buffer.of());
    const readBy = [
      ...(byZbar[index] === content ? (["zbar"] as const) : []),
      ...(byZxing === content ? (["zxing"] as const) : []),
    ];
    const isRefused = readBy.length < 2 && !(await isDesignReadable(content, design));
    outcomes.push({ readBy, isRefused });
  }
  return outcomes;
}

/** Another rasteriser than the service's own paints SVGs; every image is put on white paper. */
export async function asPng(file: Buffer, format: ImageFormat): Promise<Buffer> {
  const image = format === "SVG" ? Buffer.from(new Resvg(file.toString()).render().asPng()) : file;
  return await sharp(image).flatten({ background: "#ffffff" }).png({ compressionLevel: 1 }).toBuffer();
}
