import type { ErrorCorrection } from "./matrix.ts";

/** Red, green and blue, each 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** How a code looks. Width and height are pixels, 64 to 4,096 each. */
export interface Design {
  readonly width: number;
  readonly height: number;
  readonly errorCorrection: ErrorCorrection;
  readonly dark: Rgb;
  readonly light: Rgb;
}

/** What a record without a design of its own is drawn with: 512 pixels, correction Q, black on white. */
export const defaultDesign: Design = {
  width: 512,
  height: 512,
  errorCorrection: "Q",
  dark: [0, 0, 0],
  light: [255, 255, 255],
};
