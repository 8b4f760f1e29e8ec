import { black, type Color, white } from "../../lib/color.ts";
import type { ErrorCorrection } from "./matrix.ts";

// The names are those of the contract's enums without their prefix.
export const shapes = ["SQUARE", "CIRCLE"] as const;
export const dotsTypes = [
  "SQUARE",
  "DOTS",
  "BUBBLY_DOTS",
  "CIRCUIT_CHIP",
  "ROUNDED",
  "EXTRA_ROUNDED",
  "CLASSY",
  "CLASSY_ROUNDED",
  "HEXAGON",
  "OCTAGON",
] as const;
export const cornersSquareTypes = ["SQUARE", "DOT", "EXTRA_ROUNDED", "HEXAGON", "OCTAGON", "LEAF"] as const;
export const cornersDotTypes = ["SQUARE", "DOT", "HEXAGON", "OCTAGON", "TEARDROP", "STAR"] as const;
export const imageFormats = ["SVG", "PNG", "JPEG", "WEBP"] as const;

export type Shape = (typeof shapes)[number];
export type DotsType = (typeof dotsTypes)[number];
export type CornersSquareType = (typeof cornersSquareTypes)[number];
export type CornersDotType = (typeof cornersDotTypes)[number];
export type ImageFormat = (typeof imageFormats)[number];

/**
 * A color of a gradient. `offset` is 0 at the gradient's start and 1 at its end, and never less than that of the stop
 * before.
 */
export interface Stop {
  readonly offset: number;
  readonly color: Color;
}

/**
 * What a part is filled with. A linear gradient runs towards `angle`, in degrees clockwise from up. A radial gradient
 * runs from the middle outwards.
 */
export type Fill =
  | { readonly type: "SOLID"; readonly color: Color }
  | { readonly type: "LINEAR"; readonly angle: number; readonly stops: readonly Stop[] }
  | { readonly type: "RADIAL"; readonly stops: readonly Stop[] };

/** A picture in the middle of a code. */
export interface CentralImage {
  /** A PNG file that we wrote ourselves. SVGs take it as it is. */
  readonly png: Uint8Array;
  /** The longer side, as a share of the code's side: more than 0, at most 0.5. */
  readonly size: number;
  /** Free room around the picture, in pixels. */
  readonly margin: number;
  readonly hideBackgroundDots: boolean;
}

/** The complete look of a code. Width and height are in pixels, 64 to 4,096 each. */
export interface Design {
  readonly shape: Shape;
  readonly width: number;
  readonly height: number;
  readonly errorCorrection: ErrorCorrection;
  readonly dots: { readonly type: DotsType; readonly paint: Fill };
  readonly cornersSquare: {
    readonly type: CornersSquareType;
    /** Whether the frames' outer corners are nearly square, so that only their openings show the form. */
    readonly hasSharpCorners: boolean;
    readonly paint: Fill;
  };
  readonly cornersDot: { readonly type: CornersDotType; readonly paint: Fill };
  readonly background: Fill;
  readonly centralImage: CentralImage | undefined;
}

const blackPaint = solid(black);

/** The design of a record without one of its own: 512 pixels, correction Q, black squares on white. */
export const defaultDesign: Design = {
  shape: "SQUARE",
  width: 512,
  height: 512,
  errorCorrection: "Q",
  dots: { type: "SQUARE", paint: blackPaint },
  cornersSquare: { type: "SQUARE", hasSharpCorners: false, paint: blackPaint },
  cornersDot: { type: "SQUARE", paint: blackPaint },
  background: solid(white),
  centralImage: undefined,
};

export function solid(color: Color): Fill {
  return { type: "SOLID", color };
}

/** The colors that a fill goes through, in order. */
export function colorsOf(paint: Fill): readonly Color[] {
  return paint.type === "SOLID" ? [paint.color] : paint.stops.map(({ color }) => color);
}
