import sharp, { type Sharp } from "sharp";
import { lumaOf } from "../drawing/color.ts";
import { localDifference, localMeans, localWindow } from "../drawing/threshold.ts";
import type { Pixels, ReaderName } from "./readers.ts";

/** How a code is held in front of a reader. */
export interface ViewingCondition {
  readonly name: string;
  /** Whether a code that ZXing does not read like this is refused. Of the other conditions it may miss some. */
  readonly isRequired: boolean;
  /** The pixels of a module. Undefined keeps the image's own, up to `sideMax`. */
  readonly scale?: number;
  /** The longest side of the image in pixels. Larger images are made smaller first, as a camera would. */
  readonly sideMax?: number;
  readonly change?: (image: Sharp, scale: number) => Sharp;
  /** The readers that must read the code at first sight. */
  readonly atOnce?: readonly ReaderName[];
  /** Whether only black and white is seen, as by readers that call light what is no darker than its surroundings. */
  readonly isSimplified?: boolean;
}

/**
 * Readers look for marks of a few pixels a module, so they miss some codes in the pixels of a large image. An image that
 * is hardly larger stays as it is.
 */
const sideOfPhoto = 480;
const sideOfSmallFile = 600;

/** Reading a larger image takes more time than all other conditions together. */
const sideOfFile = 1200;

const paper = "#ffffff";

/** A camera takes many frames a second, nearer and farther, and one that is read is enough. */
export const looks = [1, 1.11, 0.93] as const;

export const conditions: readonly ViewingCondition[] = [
  { name: "as drawn", isRequired: true, sideMax: sideOfPhoto, atOnce: ["zxing"] },
  { name: "at its size", isRequired: true, sideMax: sideOfFile, atOnce: ["zxing", "jsqr"] },
  { name: "small", isRequired: false, scale: 3.5 },
  { name: "large", isRequired: false, scale: 8 },
  { name: "rotated", isRequired: false, scale: 5, change: rotated(17) },
  { name: "blurred", isRequired: false, scale: 5, change: blurred(0.4) },
  { name: "low contrast", isRequired: false, scale: 5, change: faded(0.5) },
  { name: "simplified", isRequired: false, scale: 6, isSimplified: true },
  { name: "tiny", isRequired: false, scale: 2.3 },
  { name: "upside down and tilted", isRequired: false, scale: 4, change: rotated(211) },
  { name: "strongly blurred", isRequired: false, scale: 5, change: blurred(0.5), atOnce: ["jsqr"] },
  { name: "very low contrast", isRequired: false, scale: 5, change: faded(0.25) },
  { name: "noisy", isRequired: false, scale: 4, change: noisy, atOnce: ["jsqr"] },
  {
    name: "rotated, blurred and faded",
    isRequired: false,
    scale: 4,
    change: (image, scale) => faded(0.5)(blurred(0.4)(rotated(-8)(image), scale)),
  },
];

/** A code painted on white paper: three bytes a pixel. */
export interface Painting {
  readonly data: Buffer;
  readonly info: { readonly width: number; readonly height: number; readonly channels: 3 };
}

/** Paints an SVG of ours on white paper. */
export async function paint(svg: string): Promise<Painting> {
  return await rgb(sharp(Buffer.from(svg)).flatten({ background: paper }));
}

/** A painting with modules of `moduleSize` pixels, as it is seen in a condition and from a little nearer or farther. */
export async function viewed(
  painting: Painting,
  moduleSize: number,
  { scale, sideMax = sideOfPhoto, change, isSimplified = false }: ViewingCondition,
  nearness: number,
): Promise<Pixels> {
  const { width, height } = painting.info;
  const factor = nearness * (scale === undefined ? fitting(painting, sideMax) : scale / moduleSize);
  let image = sharp(painting.data, { raw: painting.info }).resize(
    Math.max(1, Math.round(width * factor)),
    Math.max(1, Math.round(height * factor)),
    { fit: "fill" },
  );
  if (change !== undefined) {
    // In one pipeline, sharp would rotate and blur before it resizes.
    const resized = await rgb(image);
    image = change(sharp(resized.data, { raw: resized.info }), moduleSize * factor);
  }
  const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const pixels = { data: new Uint8ClampedArray(data), width: info.width, height: info.height };
  return isSimplified ? simplified(pixels, moduleSize * factor) : pixels;
}

/** Two conditions with the same key show a painting alike. */
export function viewKey(
  painting: Painting,
  { name, scale, sideMax = sideOfPhoto }: ViewingCondition,
): string {
  return scale === undefined ? `fitting ${fitting(painting, sideMax)}` : name;
}

/** By how much a painting is made smaller so that no side is longer than `sideMax`. */
function fitting({ info }: Painting, sideMax: number): number {
  const longer = Math.max(info.width, info.height);
  return longer <= sideOfSmallFile ? 1 : Math.min(1, sideMax / longer);
}

/** Makes black what is darker than its surroundings, and everything else white. */
function simplified({ data, width, height }: Pixels, moduleSize: number): Pixels {
  const lumas = new Float64Array(width * height);
  for (let index = 0; index < lumas.length; index++) {
    const [red, green, blue] = [data[index * 4] ?? 0, data[index * 4 + 1] ?? 0, data[index * 4 + 2] ?? 0];
    lumas[index] = lumaOf({ red, green, blue });
  }
  const means = localMeans(lumas, { width, height }, localWindow * moduleSize);
  const result = new Uint8ClampedArray(data.length).fill(255);
  const words = new Uint32Array(result.buffer);
  // Opaque black, in the byte order of this machine.
  const [black = 0] = new Uint32Array(Uint8Array.of(0, 0, 0, 255).buffer);
  for (let index = 0; index < words.length; index++) {
    if ((lumas[index] ?? 0) + localDifference < (means[index] ?? 0)) words[index] = black;
  }
  return { data: result, width, height };
}

async function rgb(image: Sharp): Promise<Painting> {
  const { data, info } = await image
    .removeAlpha()
    .toColorspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, info: { width: info.width, height: info.height, channels: 3 } };
}

function rotated(degrees: number) {
  return (image: Sharp) => image.rotate(degrees, { background: paper });
}

/** A Gaussian blur; `sigma` is in modules. */
function blurred(sigma: number) {
  return (image: Sharp, scale: number) => image.blur(Math.max(0.3, sigma * scale));
}

/** Leaves only a part of the contrast, around a middle grey, as in bad light or faded print. */
function faded(part: number) {
  return (image: Sharp) => image.linear(part, 128 * (1 - part));
}

/** Adds a noise that is the same for every image: dots of grey that take a part of the contrast. */
function noisy(image: Sharp): Sharp {
  return image.composite([
    { input: grain, raw: { width: grainSide, height: grainSide, channels: 4 }, tile: true },
  ]);
}

const grainSide = 64;
const grain = Buffer.alloc(grainSide * grainSide * 4);
for (let pixel = 0, state = 1; pixel < grainSide * grainSide; pixel++) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  grain.fill(state >>> 31 === 0 ? 0 : 255, pixel * 4, pixel * 4 + 3);
  grain[pixel * 4 + 3] = ((state >>> 16) & 255) * 0.35;
}
