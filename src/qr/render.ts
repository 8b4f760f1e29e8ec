import { createHash } from "node:crypto";
import type { Design } from "./design.ts";
import { qrMatrix } from "./matrix.ts";
import { plainPng } from "./plain-png.ts";
import { plainSvg } from "./svg.ts";

/** File formats an image can be drawn in, by file name extension. */
export type ImageFormat = keyof typeof formats;

export interface Image {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

const formats = {
  png: {
    contentType: "image/png",
    draw: (content: string, design: Design) => plainPng(qrMatrix(content, design.errorCorrection), design),
  },
  svg: {
    contentType: "image/svg+xml",
    draw: (content: string, design: Design) =>
      Buffer.from(plainSvg(qrMatrix(content, design.errorCorrection), design)),
  },
} as const;

/** Counts up when equal inputs are drawn differently than before, so that stored images are drawn anew. */
const drawingVersion = 1;

/** Draws a code; a RangeError when the content is too long for a code, or the code too large for the image. */
export function renderQr(content: string, design: Design, format: ImageFormat): Image {
  const { contentType, draw } = formats[format];
  return { bytes: draw(content, design), contentType };
}

/** Names the image by everything that decides its bytes: equal inputs share a key, `qr/<64 hex digits>.<format>`. */
export function imageKey(content: string, design: Design, format: ImageFormat): string {
  const { width, height, errorCorrection, dark, light } = design;
  const inputs = JSON.stringify([
    drawingVersion,
    content,
    format,
    width,
    height,
    errorCorrection,
    dark,
    light,
  ]);
  return `qr/${createHash("sha256").update(inputs).digest("hex")}.${format}`;
}
