import type { Color } from "../../lib/color.ts";
import { toCss } from "../../model/look/color.ts";
import type { Paint } from "../../model/look/page-theme.ts";

/** A part of a picture, in pixels. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A color as SVG knows it. */
export function colorAttributes(name: "fill" | "stroke" | "stop", color: Color): string {
  const { alpha } = color;
  const opacity = alpha === 1 ? "" : ` ${name}-opacity="${rounded(alpha)}"`;
  return `${name === "stop" ? "stop-color" : name}="${toCss({ ...color, alpha: 1 })}"${opacity}`;
}

/** An area in a paint, as CSS fills a box with it. `id` tells the gradients of a picture apart. */
export function filled(id: string, paint: Paint, area: Area, radius = 0): string {
  const { x, y, width, height } = area;
  const round = radius === 0 ? "" : ` rx="${rounded(Math.min(radius, height / 2))}"`;
  const box = `x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}"${round}`;
  if (paint.type === "SOLID") return `<rect ${box} ${colorAttributes("fill", paint.colors[0])}/>`;
  const { geometry, length } =
    paint.type === "LINEAR" ? linear(angleOf(paint.direction, area), area) : radial(area);
  const tag = paint.type === "LINEAR" ? "linearGradient" : "radialGradient";
  const stops = paint.colors.map(
    (color, index) =>
      `<stop offset="${rounded(offsetOf(paint, index, length))}" ${colorAttributes("stop", color)}/>`,
  );
  return `<${tag} id="${id}" gradientUnits="userSpaceOnUse" ${geometry}>${stops.join("")}</${tag}><rect ${box} fill="url(#${id})"/>`;
}

/** Where a color of a gradient stands, as a share of its length. */
function offsetOf({ colors, stops }: Paint, index: number, length: number): number {
  const stop = stops[index];
  if (stop === undefined) return index / (colors.length - 1);
  return Number.parseFloat(stop) / (stop.endsWith("%") ? 100 : length);
}

interface Geometry {
  readonly geometry: string;
  readonly length: number;
}

/** As long as CSS makes it: the corners of the area have exactly the first and the last color. */
function linear(angle: number, { x, y, width, height }: Area): Geometry {
  const [across, down] = [Math.sin(angle), -Math.cos(angle)];
  const half = (Math.abs(width * across) + Math.abs(height * down)) / 2;
  const [middleX, middleY] = [x + width / 2, y + height / 2];
  const [x1, y1] = [middleX - across * half, middleY - down * half];
  const [x2, y2] = [middleX + across * half, middleY + down * half];
  return {
    geometry: `x1="${rounded(x1)}" y1="${rounded(y1)}" x2="${rounded(x2)}" y2="${rounded(y2)}"`,
    length: half * 2,
  };
}

/** An ellipse around the middle through the corners. */
function radial({ x, y, width, height }: Area): Geometry {
  const length = (width / 2) * Math.SQRT2;
  const place = `translate(${rounded(x + width / 2)} ${rounded(y + height / 2)}) scale(1 ${rounded(height / width)})`;
  return { geometry: `cx="0" cy="0" r="${rounded(length)}" gradientTransform="${place}"`, length };
}

/** Turns in radians by unit. */
const units = { deg: Math.PI / 180, grad: Math.PI / 200, rad: 1, turn: 2 * Math.PI } as const;

/** The direction of a gradient, clockwise from the top. */
function angleOf(direction: string, { width, height }: Area): number {
  const [, number = "", unit = ""] = /^(-?[\d.]+)(deg|grad|rad|turn)$/.exec(direction) ?? [];
  // The expression allows no other unit.
  if (unit !== "") return Number(number) * units[unit as keyof typeof units];
  const across = direction.includes("right") ? 1 : direction.includes("left") ? -1 : 0;
  const down = direction.includes("bottom") ? 1 : direction.includes("top") ? -1 : 0;
  // Towards a corner, the other two corners have the color of the middle.
  if (across !== 0 && down !== 0) return Math.atan2(across * height, -down * width);
  return Math.atan2(across, -down);
}

export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
