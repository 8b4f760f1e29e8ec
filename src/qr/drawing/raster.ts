import sharp, { type Sharp } from "sharp";
import type { ImageFormat } from "./design.ts";
import { type Shades, shadesSide } from "./picture.ts";

// One image uses one core: several are drawn at a time, and the service has better uses for the others.
sharp.concurrency(1);
sharp.cache(false);

/** Photos hide what a lossy format does to an edge, codes do not: little is lost, and nothing of the colors' detail. */
const encoders: Readonly<Record<Exclude<ImageFormat, "SVG">, (image: Sharp) => Sharp>> = {
  PNG: (image) => image.png({ compressionLevel: 6 }),
  JPEG: (image) => image.flatten({ background: "#ffffff" }).jpeg({ quality: 90, chromaSubsampling: "4:4:4" }),
  WEBP: (image) => image.webp({ lossless: true, effort: 0 }),
};

/** Paints an SVG of ours at its own size. */
export function rasterise(svg: string, format: Exclude<ImageFormat, "SVG">): Promise<Buffer> {
  return encoders[format](sharp(Buffer.from(svg))).toBuffer();
}

/** A picture made small, to know what is dark in it. */
export async function shadesOf(png: Uint8Array): Promise<Shades> {
  const small = sharp(png).resize(shadesSide, shadesSide, { fit: "fill" }).toColorspace("srgb").ensureAlpha();
  return await small.raw().toBuffer();
}
