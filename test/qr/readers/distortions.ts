import sharp, { type Sharp } from "sharp";
import { codeOf } from "../../../src/qr/drawing/code.ts";
import type { Design } from "../../../src/qr/drawing/design.ts";
import { layOutCode } from "../../../src/qr/drawing/layout.ts";
import { svgOf } from "../../../src/qr/drawing/svg.ts";
import type { Pixels } from "../../../src/qr/gate/readers.ts";
import { randomNumbers } from "../random-designs.ts";

const paper = "#ffffff";

interface Distortion {
  readonly name: string;
  /** The pixels of a module. */
  readonly scale: number;
  readonly change?: (image: Sharp) => Sharp;
  /** What light does to a pixel at `x` and `y`, which run from 0 to 1. */
  readonly light?: (x: number, y: number, random: () => number) => { factor: number; more: number };
  readonly jpegQuality?: number;
}

/** How codes meet readers in the field. Blurs are in modules. */
export const distortions: readonly Distortion[] = [
  { name: "blurred", scale: 5, change: (image) => image.blur(0.5 * 5) },
  { name: "rotated 17", scale: 5, change: (image) => image.rotate(17, { background: paper }) },
  { name: "rotated 38", scale: 5, change: (image) => image.rotate(38, { background: paper }) },
  {
    name: "tilted",
    scale: 5,
    change: (image) => image.affine([1, 0.16, 0.08, 0.86], { background: paper }),
  },
  { name: "small", scale: 2.6 },
  { name: "large", scale: 14 },
  { name: "faded", scale: 5, light: () => ({ factor: 0.35, more: 128 * 0.65 }) },
  { name: "shaded", scale: 5, light: (x, y) => ({ factor: 1 - 0.75 * (0.7 * x + 0.3 * y), more: 0 }) },
  {
    name: "noisy",
    scale: 5,
    light: (_x, _y, random) => ({ factor: 1, more: (random() + random() + random() + random() - 2) * 90 }),
  },
  { name: "compressed", scale: 4, jpegQuality: 12 },
];

/** The view of a code that nothing distorts, at the asked size. */
export const asDrawn = "as drawn";

/** A code as it is drawn at the asked size, and as distortions show it. */
export async function viewsOf(
  content: string,
  design: Design,
  shown: readonly Distortion[] = distortions,
): Promise<Map<string, Pixels>> {
  const matrix = await codeOf(content, design);
  const painting = await sharp(Buffer.from(svgOf(matrix, design)))
    .flatten({ background: paper })
    .png({ compressionLevel: 0 })
    .toBuffer();
  const views = new Map([[asDrawn, await pixelsOf(sharp(painting))]]);
  for (const distortion of shown)
    views.set(
      distortion.name,
      await distorted(painting, design, layOutCode(matrix.size, design).scale, distortion),
    );
  return views;
}

async function distorted(
  painting: Buffer,
  { width, height }: Design,
  moduleSize: number,
  { scale, change, light, jpegQuality }: Distortion,
): Promise<Pixels> {
  const factor = scale / moduleSize;
  const size = { width: Math.round(width * factor), height: Math.round(height * factor) };
  const resized = await sharp(painting)
    .resize({ ...size, fit: "fill" })
    .png({ compressionLevel: 0 })
    .toBuffer();
  // In one pipeline, sharp would rotate and blur before it resizes.
  let image = change === undefined ? sharp(resized) : change(sharp(resized));
  if (jpegQuality !== undefined) image = sharp(await image.jpeg({ quality: jpegQuality }).toBuffer());
  const pixels = await pixelsOf(image);
  return light === undefined ? pixels : lit(pixels, light);
}

function lit({ data, width, height }: Pixels, light: NonNullable<Distortion["light"]>): Pixels {
  const random = randomNumbers(width);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const change = light((pixel % width) / width, Math.floor(pixel / width) / height, random);
    for (let channel = 0; channel < 3; channel++) {
      const index = pixel * 4 + channel;
      data[index] = (data[index] ?? 0) * change.factor + change.more;
    }
  }
  return { data, width, height };
}

async function pixelsOf(image: Sharp): Promise<Pixels> {
  const { data, info } = await image
    .flatten({ background: paper })
    .toColorspace("srgb")
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data: new Uint8ClampedArray(data), width: info.width, height: info.height };
}
