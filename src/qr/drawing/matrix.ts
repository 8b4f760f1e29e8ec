import { create } from "qrcode";
import { withoutDecoys } from "./decoys.ts";

/** How much of a code may be lost: about 7, 15, 25 and 30 % (ISO/IEC 18004). */
export type ErrorCorrection = (typeof errorCorrections)[number];
export const errorCorrections = ["L", "M", "Q", "H"] as const;

/** The modules of a code without its quiet zone: `size` × `size`, row by row, 1 is dark. `size` is 21 to 177. */
export interface Matrix {
  readonly size: number;
  readonly modules: Uint8Array;
}

/** How many modules a side of a finder pattern has. Readers look for these three marks in the corners first. */
export const finderSide = 7;

/**
 * Encodes text as the smallest code that holds it. Throws a RangeError when none does (1,663 bytes at Q, 2,953 at L).
 */
export function qrMatrix(content: string, errorCorrection: ErrorCorrection): Matrix {
  if (content === "") throw new RangeError("a QR code needs content");
  return withoutDecoys((maskPattern) => {
    try {
      const { modules } = create(content, { errorCorrectionLevel: errorCorrection, maskPattern });
      return { size: modules.size, modules: modules.data };
    } catch (cause) {
      throw new RangeError(`content of ${content.length} characters does not fit a QR code`, { cause });
    }
  });
}

/** Whether a module belongs to a finder pattern: top left, top right or bottom left. */
export function isFinder(size: number, row: number, column: number): boolean {
  const far = size - finderSide;
  if (row < finderSide) return column < finderSide || column >= far;
  return row >= far && column < finderSide;
}

/**
 * The middle modules of the alignment patterns, which have 5 × 5 modules each and tell readers how a code is warped.
 */
export function alignmentCenters(size: number): { readonly row: number; readonly column: number }[] {
  const version = (size - 17) / 4;
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  // The standard's table follows this rule, except for version 32.
  const step = version === 32 ? 26 : 2 * Math.ceil((size - 13) / (2 * count - 2));
  const last = size - finderSide;
  const places = [finderSide - 1, ...Array.from({ length: count - 1 }, (_, index) => last - index * step)];
  return places.flatMap((row) =>
    places.filter((column) => !isFinder(size, row, column)).map((column) => ({ row, column })),
  );
}
