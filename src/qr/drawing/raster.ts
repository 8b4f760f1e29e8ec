import sharp, { type Sharp } from "sharp";
import type { ImageFormat } from "./design.ts";
import { type Shades, shadesSide } from "./picture.ts";

// One image uses one core. Several are drawn at a time, and the service needs the other cores.
sharp.concurrency(1);
sharp.cache(false);

/**
 * Photos hide what a lossy format does to edges, and codes do not, so little is lost, and none of the colors' detail.
 */
const encoders: Readonly<Record<Exclude<ImageFormat, "SVG">, (image: Sharp) => Sharp>> = {
  PNG: (image) => image.png({ compressionLevel: 6 }),
  JPEG: (image) => image.flatten({ background: "#ffffff" }).jpeg({ quality: 90, chromaSubsampling: "4:4:4" }),
  WEBP: (image) => image.webp({ lossless: true, effort: 0 }),
};

/** Paints an SVG of ours at its own size. */
export function rasterise(svg: string, format: Exclude<ImageFormat, "SVG">): Promise<Buffer> {
  return encoders[format](sharp(Buffer.from(svg))).toBuffer();
}

/** A small copy of a picture, which shows where it is dark. */
export async function shadesOf(png: Uint8Array): Promise<Shades> {
  const small = sharp(png).resize(shadesSide, shadesSide, { fit: "fill" }).toColorspace("srgb").ensureAlpha();
  return await small.raw().toBuffer();
}
