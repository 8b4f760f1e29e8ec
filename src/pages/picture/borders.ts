import { black, type Color, white } from "../../lib/color.ts";
import { mix } from "../../model/look/color.ts";
import { type Area, colorAttributes, rounded } from "./paints.ts";

interface Border {
  readonly style: string;
  readonly size: number;
  readonly color: Color;
}

/** The border of a box, inside of its outline, as browsers draw the styles of CSS. */
export function bordered({ style, size, color }: Border, area: Area, radius: number): string {
  if (size === 0) return "";
  const line = (from: number, width: number, shade = color, more = "") =>
    outline(
      inset(area, from + width / 2),
      radius - from - width / 2,
      `${colorAttributes("stroke", shade)} stroke-width="${rounded(width)}"${more}`,
    );
  switch (style) {
    case "DASHED":
      return line(0, size, color, ` stroke-dasharray="${size * 2} ${size * 2}"`);
    case "DOTTED":
      return line(0, size, color, ` stroke-dasharray="0 ${size * 2}" stroke-linecap="round"`);
    case "DOUBLE":
      // Too thin for two lines with a gap, it is one.
      return size < 3 ? line(0, size) : line(0, size / 3) + line((size * 2) / 3, size / 3);
    case "GROOVE":
      return line(0, size / 2, mix(color, black, 0.3)) + line(size / 2, size / 2, mix(color, white, 0.3));
    case "RIDGE":
      return line(0, size / 2, mix(color, white, 0.3)) + line(size / 2, size / 2, mix(color, black, 0.3));
    default:
      return line(0, size);
  }
}

function outline({ x, y, width, height }: Area, radius: number, stroke: string): string {
  const round = radius > 0 ? ` rx="${rounded(radius)}"` : "";
  return `<rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}"${round} fill="none" ${stroke}/>`;
}

function inset({ x, y, width, height }: Area, by: number): Area {
  return { x: x + by, y: y + by, width: Math.max(0, width - 2 * by), height: Math.max(0, height - 2 * by) };
}
