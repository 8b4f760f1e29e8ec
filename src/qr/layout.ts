import type { Matrix } from "./matrix.ts";

/** Modules of background kept free on every side (ISO/IEC 18004). */
export const quietZone = 4;

/** Pixels a side of an image may have. */
export const sideMin = 64;
export const sideMax = 4096;

/** Where a code stands in its image: pixels a module, and the corner of its first module. */
export interface Layout {
  readonly scale: number;
  readonly left: number;
  readonly top: number;
}

/**
 * Centres a code with its quiet zone in `width` × `height` pixels. Modules are whole pixels, because readers stumble on
 * modules of uneven size; what is left over widens the quiet zone. A RangeError when not even one pixel a module fits.
 */
export function layOut(matrix: Matrix, width: number, height: number): Layout {
  for (const side of [width, height]) {
    if (!Number.isInteger(side) || side < sideMin || side > sideMax)
      throw new RangeError(`an image side has ${sideMin} to ${sideMax} pixels, not ${side}`);
  }
  const modules = matrix.size + 2 * quietZone;
  const scale = Math.floor(Math.min(width, height) / modules);
  if (scale === 0) throw new RangeError(`this code needs at least ${modules} pixels a side`);
  const inner = matrix.size * scale;
  return { scale, left: Math.floor((width - inner) / 2), top: Math.floor((height - inner) / 2) };
}
