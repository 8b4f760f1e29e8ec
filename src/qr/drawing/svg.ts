import type { Color } from "../../lib/color.ts";
import { hexOf } from "./color.ts";
import { drawFrames, drawMiddles } from "./corners.ts";
import type { CentralImage, Design, Fill } from "./design.ts";
import { drawDots } from "./dots.ts";
import { dotsOf, originOf } from "./grid.ts";
import { type CodeLayout, layOutCode } from "./layout.ts";
import type { Matrix } from "./matrix.ts";
import { type PathWriter, pathWriter } from "./path.ts";
import { hiddenArea, pictureArea } from "./picture.ts";

/** An area in pixels, which a gradient spans. */
interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Draws a code as an SVG of a background, three paths (dots, frames and middles of the finder patterns) and the
 * picture. It has only attributes that every rasteriser knows: no style sheet, no clip path, and no references except
 * to its own gradients. Separate shapes for modules would leave hairlines between them, which readers stumble on.
 */
export function svgOf(matrix: Matrix, design: Design): string {
  const { width, height, dots, cornersSquare, cornersDot, background, centralImage } = design;
  const layout = layOutCode(matrix.size, design);
  const grid = dotsOf(
    matrix,
    design.shape,
    centralImage && hiddenArea(centralImage, matrix.size, layout.scale),
  );
  const whole = { x: 0, y: 0, width, height };
  const origin = originOf(grid, layout);
  const side = grid.side * layout.scale;
  const code = { x: origin.left, y: origin.top, width: side, height: side };
  const parts = [
    filled(background, whole, (fill) => `<rect width="${width}" height="${height}" ${fill}/>`),
    path(dots.paint, code, origin, (writer) => drawDots(writer, grid, dots.type)),
    path(cornersSquare.paint, code, layout, (writer) => drawFrames(writer, matrix.size, cornersSquare), true),
    path(cornersDot.paint, code, layout, (writer) =>
      drawMiddles(writer, matrix.size, cornersDot.type, cornersSquare.type),
    ),
    centralImage === undefined ? "" : pictureElement(centralImage, matrix.size, layout),
  ];
  const attributes = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  const xlink = centralImage === undefined ? "" : ' xmlns:xlink="http://www.w3.org/1999/xlink"';
  return `<svg xmlns="http://www.w3.org/2000/svg"${xlink} ${attributes}>${parts.join("")}</svg>`;
}

function path(
  paint: Fill,
  box: Box,
  origin: CodeLayout,
  draw: (writer: PathWriter) => void,
  isEvenOdd = false,
): string {
  const writer = pathWriter(origin);
  draw(writer);
  const d = writer.toString();
  if (d === "") return "";
  return filled(paint, box, (fill) => `<path ${fill}${isEvenOdd ? ' fill-rule="evenodd"' : ""} d="${d}"/>`);
}

function pictureElement(image: CentralImage, size: number, { scale, left, top }: CodeLayout): string {
  const area = pictureArea(image, size);
  const place = `x="${number(left + area.left * scale)}" y="${number(top + area.top * scale)}"`;
  const [across, down] = [(area.right - area.left) * scale, (area.bottom - area.top) * scale];
  const data = Buffer.from(image.png.buffer, image.png.byteOffset, image.png.length).toString("base64");
  // Old rasterisers know only the reference with a prefix.
  const reference = `xlink:href="data:image/png;base64,${data}"`;
  return `<image ${place} width="${number(across)}" height="${number(down)}" ${reference}/>`;
}

/** An element with its fill, after the gradient that the fill needs. */
function filled(paint: Fill, box: Box, element: (fill: string) => string): string {
  if (paint.type === "SOLID")
    return element(`fill="${hexOf(paint.color)}"${opacity("fill-opacity", paint.color)}`);
  const geometry = paint.type === "LINEAR" ? linear(paint.angle, box) : radial(box);
  const stops = paint.stops.map(
    ({ offset, color }) =>
      `<stop offset="${number(offset)}" stop-color="${hexOf(color)}"${opacity("stop-opacity", color)}/>`,
  );
  const tag = paint.type === "LINEAR" ? "linearGradient" : "radialGradient";
  const content = `${geometry} gradientUnits="userSpaceOnUse">${stops.join("")}`;
  // A page that contains several SVGs shares their ids, so equal ids must mean equal gradients.
  const id = `g${fingerprint(tag + content)}`;
  return `<${tag} id="${id}" ${content}</${tag}>${element(`fill="url(#${id})"`)}`;
}

/** A linear gradient, as long as CSS makes it: the corners of the box have exactly the first and the last color. */
function linear(angle: number, { x, y, width, height }: Box): string {
  const [across, down] = [Math.sin((angle * Math.PI) / 180), -Math.cos((angle * Math.PI) / 180)];
  const half = (Math.abs(width * across) + Math.abs(height * down)) / 2;
  const [middleX, middleY] = [x + width / 2, y + height / 2];
  const points = {
    x1: middleX - across * half,
    y1: middleY - down * half,
    x2: middleX + across * half,
    y2: middleY + down * half,
  };
  return Object.entries(points)
    .map(([name, value]) => `${name}="${number(value)}"`)
    .join(" ");
}

/** A radial gradient from the middle to the corners. */
function radial({ x, y, width, height }: Box): string {
  const radius = Math.hypot(width, height) / 2;
  return `cx="${number(x + width / 2)}" cy="${number(y + height / 2)}" r="${number(radius)}"`;
}

function opacity(attribute: string, { alpha }: Color): string {
  return alpha === 1 ? "" : ` ${attribute}="${number(alpha)}"`;
}

function number(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}

/** FNV-1a in 32 bits, in base 36. */
function fingerprint(text: string): string {
  let hash = 2_166_136_261;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619);
  return (hash >>> 0).toString(36);
}
