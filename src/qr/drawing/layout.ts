import type { Design } from "./design.ts";

/** Modules of background kept free on every side (ISO/IEC 18004). */
export const quietZone = 4;

/** How many pixels a side of an image may have. */
export const sideMin = 64;
export const sideMax = 4096;

/** Where a code stands in its image: the pixels of a module, and the corner of the code's first module. */
export interface CodeLayout {
  readonly scale: number;
  readonly left: number;
  readonly top: number;
}

/**
 * Centers a code of `size` modules with its quiet zone in the image. Modules are whole pixels, because readers stumble
 * on modules of uneven size. What is left over widens the quiet zone. Modules are smaller only when not even one pixel
 * fits: such an image cannot be read at its size, but its SVG can be printed larger.
 */
export function layOutCode(
  size: number,
  { width, height, shape }: Pick<Design, "width" | "height" | "shape">,
): CodeLayout {
  for (const side of [width, height]) {
    if (!Number.isInteger(side) || side < sideMin || side > sideMax)
      throw new RangeError(`an image side has ${sideMin} to ${sideMax} pixels, not ${side}`);
  }
  const fitting = Math.min(width, height) / modulesAcross(size, shape);
  const scale = fitting < 1 ? fitting : Math.floor(fitting);
  const place = (side: number) =>
    fitting < 1 ? (side - size * scale) / 2 : Math.floor((side - size * scale) / 2);
  return { scale, left: place(width), top: place(height) };
}

/** How many modules a side of the smallest image that shows all of a code has. */
export function modulesAcross(size: number, shape: Design["shape"]): number {
  return shape === "SQUARE" ? size + 2 * quietZone : 2 * circleRadius(size) + 1;
}

/** The radius of the circle around a code, in modules. The code's corners with half their quiet zone lie within it. */
export function circleRadius(size: number): number {
  return Math.SQRT2 * (size / 2 + quietZone / 2);
}
