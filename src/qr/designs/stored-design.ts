import { readColor } from "../drawing/color.ts";
import {
  type CentralImage,
  cornersDotTypes,
  cornersSquareTypes,
  type Design,
  defaultDesign,
  dotsTypes,
  type Fill,
  type ImageFormat,
  imageFormats,
  shapes,
  solid,
} from "../drawing/design.ts";
import { sideMax, sideMin } from "../drawing/layout.ts";
import { errorCorrections } from "../drawing/matrix.ts";

/** A picture's share of the code's side when none is stored, and the largest share it may have. */
const imageSizeDefault = 0.4;
const imageSizeMax = 0.5;

/**
 * Reads a design as it is stored, by the contract's JSON names. What is unset or cannot be read takes the default, so
 * that every stored design can be drawn. `imagePng` is the picture for the middle, as we re-encoded it. A code with a
 * picture has at least error correction Q.
 */
export function storedDesign(
  options: unknown,
  imagePng?: Uint8Array,
): { readonly design: Design; readonly format: ImageFormat } {
  const fields = objectOf(options);
  const [dots, cornersSquare, cornersDot, background] = [
    objectOf(fields.dotsOptions),
    objectOf(fields.cornersSquareOptions),
    objectOf(fields.cornersDotOptions),
    objectOf(fields.backgroundOptions),
  ];
  const dotsPaint = readPaint(dots.themeColor) ?? defaultDesign.dots.paint;
  const centralImage = imagePng === undefined ? undefined : readCentralImage(fields, imagePng);
  const errorCorrection =
    pick(errorCorrections, fields.errorCorrectionLevel, "") ?? defaultDesign.errorCorrection;
  const design: Design = {
    shape: pick(shapes, fields.shape, "SHAPE_") ?? "SQUARE",
    width: readSide(fields.width) ?? defaultDesign.width,
    height: readSide(fields.height) ?? defaultDesign.height,
    errorCorrection: centralImage !== undefined && errorCorrection !== "H" ? "Q" : errorCorrection,
    dots: { type: pick(dotsTypes, dots.type, "DOTS_TYPE_") ?? "SQUARE", paint: dotsPaint },
    cornersSquare: {
      type: pick(cornersSquareTypes, cornersSquare.type, "CORNERS_SQUARE_TYPE_") ?? "SQUARE",
      hasSharpCorners: cornersSquare.sharpCorners === true,
      paint: readPaint(cornersSquare.themeColor) ?? dotsPaint,
    },
    cornersDot: {
      type: pick(cornersDotTypes, cornersDot.type, "CORNERS_DOT_TYPE_") ?? "SQUARE",
      paint: readPaint(cornersDot.themeColor) ?? dotsPaint,
    },
    background: readPaint(background.themeColor) ?? defaultDesign.background,
    centralImage,
  };
  return { design, format: pick(imageFormats, fields.outputFileFormat, "OUTPUT_FILE_FORMAT_") ?? "PNG" };
}

function readCentralImage(fields: Readonly<Record<string, unknown>>, png: Uint8Array): CentralImage {
  return {
    png,
    size: Math.min(positive(fields.centralImageSize) ?? imageSizeDefault, imageSizeMax),
    margin: positive(fields.centralImageMargin) ?? 0,
    hideBackgroundDots: fields.hideBackgroundDots !== false,
  };
}

/** Reads a ThemeColor. Undefined when no color in it can be read. */
export function readPaint(themeColor: unknown): Fill | undefined {
  const { type, colors, stops, direction } = objectOf(themeColor);
  const read = texts(colors)
    .map(readColor)
    .filter((color) => color !== undefined);
  const [first] = read;
  if (first === undefined) return undefined;
  if (read.length === 1 || (type !== "THEME_COLOR_TYPE_LINEAR" && type !== "THEME_COLOR_TYPE_RADIAL"))
    return solid(first);
  const offsets = readOffsets(texts(stops), read.length);
  const colorStops = read.map((color, index) => ({ offset: offsets[index] ?? 1, color }));
  if (type === "THEME_COLOR_TYPE_RADIAL") return { type: "RADIAL", stops: colorStops };
  return { type: "LINEAR", angle: readDirection(direction), stops: colorStops };
}

/** Offsets from 0 to 1 that never fall. They are spread evenly unless there is one for each readable color. */
function readOffsets(stops: readonly string[], count: number): number[] {
  const read = stops.map((stop) => {
    const [, number, unit] = /^([-+]?(?:\d+(?:\.\d+)?|\.\d+))\s*(%?)$/.exec(stop.trim()) ?? [];
    return number === undefined ? Number.NaN : Number(number) / (unit === "%" ? 100 : 1);
  });
  if (read.length !== count || read.some(Number.isNaN))
    return Array.from({ length: count }, (_, index) => index / (count - 1));
  let least = 0;
  return read.map((offset) => {
    least = Math.min(1, Math.max(least, offset));
    return least;
  });
}

const sides: Readonly<Record<string, number>> = { top: 0, right: 90, bottom: 180, left: 270 };
const degrees: Readonly<Record<string, number>> = { deg: 1, grad: 0.9, rad: 180 / Math.PI, turn: 360, "": 1 };

/** A CSS angle, or `to` with one or two sides, in degrees. From top to bottom when the text is neither. */
function readDirection(direction: unknown): number {
  const text = typeof direction === "string" ? direction.trim().toLowerCase() : "";
  const [, number, unit = ""] = /^([-+]?(?:\d+(?:\.\d+)?|\.\d+))\s*(deg|grad|rad|turn|)$/.exec(text) ?? [];
  if (number !== undefined) return (((Number(number) * (degrees[unit] ?? 1)) % 360) + 360) % 360;
  const named = text
    .replace(/^to\s+/, "")
    .split(/[\s-]+/)
    .map((side) => sides[side]);
  const [one, other] = named;
  if (one === undefined || named.length > 2 || (named.length === 2 && other === undefined)) return 180;
  if (other === undefined || (one - other) % 180 === 0) return one;
  // Top and left are neighbours across 360 degrees.
  return Math.abs(one - other) > 180 ? 315 : (one + other) / 2;
}

/** The one of `names` that a stored enum value means. Undefined for UNSPECIFIED and for unknown values. */
function pick<Name extends string>(names: readonly Name[], value: unknown, prefix: string): Name | undefined {
  return names.find((name) => `${prefix}${name}` === value);
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : {};
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function readSide(value: unknown): number | undefined {
  const side = positive(value);
  return side === undefined ? undefined : Math.round(Math.min(Math.max(side, sideMin), sideMax));
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}
