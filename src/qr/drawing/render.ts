import { createHash } from "node:crypto";
import { codeOf } from "./code.ts";
import type { Design, Fill, ImageFormat } from "./design.ts";
import { layOutCode } from "./layout.ts";
import type { Matrix } from "./matrix.ts";
import { plainPng } from "./plain-png.ts";
import { svgOf } from "./svg.ts";

/** The media type and the file name extension of each format. */
export const contentTypes: Readonly<Record<ImageFormat, string>> = {
  SVG: "image/svg+xml",
  PNG: "image/png",
  JPEG: "image/jpeg",
  WEBP: "image/webp",
};
const extensions: Readonly<Record<ImageFormat, string>> = {
  SVG: "svg",
  PNG: "png",
  JPEG: "jpg",
  WEBP: "webp",
};

/** Goes up when equal inputs are drawn differently than before, so that stored images are drawn again. */
const drawingVersion = 7;

/** Draws a code as SVG. Throws a RangeError when the content is too long for any code. */
export async function renderSvg(content: string, design: Design): Promise<string> {
  return svgOf(await codeOf(content, design), design);
}

/**
 * Draws a code as a file. Throws a RangeError when the content is too long for any code. JPEG has white for
 * transparency.
 */
export async function renderImage(content: string, design: Design, format: ImageFormat): Promise<Buffer> {
  const matrix = await codeOf(content, design);
  if (format === "PNG" && isPlain(matrix, design)) {
    const [dark, light] = [design.dots.paint.color, design.background.color];
    return plainPng(matrix, { ...design, dark, light });
  }
  const svg = svgOf(matrix, design);
  if (format === "SVG") return Buffer.from(svg);
  // Plain codes do not need the rasteriser, so neither they nor the start of the service load it.
  const { rasterise } = await import("./raster.ts");
  return await rasterise(svg, format);
}

/**
 * The storage key of an image, made from everything that decides its bytes: `qr/<64 hex digits>.<extension>`. Equal
 * inputs share a key.
 */
export function imageKey(content: string, design: Design, format: ImageFormat): string {
  const { shape, width, height, errorCorrection, dots, cornersSquare, cornersDot, background } = design;
  const image = design.centralImage;
  const inputs = [
    ...[drawingVersion, content, format, shape, width, height, errorCorrection],
    ...[dots, cornersSquare, cornersDot].flatMap(({ type, paint }) => [type, paintKey(paint)]),
    cornersSquare.hasSharpCorners,
    paintKey(background),
    image && [sha256(image.png), image.size, image.margin, image.hideBackgroundDots],
  ];
  return `qr/${sha256(JSON.stringify(inputs))}.${extensions[format]}`;
}

type PlainDesign = Design &
  Record<"dots" | "background", unknown> & {
    readonly dots: { readonly paint: Extract<Fill, { type: "SOLID" }> };
    readonly background: Extract<Fill, { type: "SOLID" }>;
  };

/** Whether a code has only square modules, of one color on another, with a whole number of pixels each. */
function isPlain(matrix: Matrix, design: Design): design is PlainDesign {
  const { shape, dots, cornersSquare, cornersDot, background, centralImage } = design;
  const parts = [dots, cornersSquare, cornersDot];
  return (
    shape === "SQUARE" &&
    centralImage === undefined &&
    background.type === "SOLID" &&
    parts.every(({ type, paint }) => type === "SQUARE" && paintKey(paint) === paintKey(dots.paint)) &&
    dots.paint.type === "SOLID" &&
    layOutCode(matrix.size, design).scale >= 1
  );
}

function paintKey(paint: Fill): string {
  return JSON.stringify(
    paint.type === "SOLID"
      ? Object.values(paint.color)
      : [
          paint.type,
          paint.type === "LINEAR" ? paint.angle : 0,
          paint.stops.map(({ offset, color: { red, green, blue, alpha } }) => [
            offset,
            red,
            green,
            blue,
            alpha,
          ]),
        ],
  );
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
