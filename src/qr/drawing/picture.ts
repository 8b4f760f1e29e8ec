import { type Color, over, white } from "../../lib/color.ts";
import { lumaOf } from "./color.ts";
import { type CentralImage, colorsOf, type Design, type Fill } from "./design.ts";
import { layOutCode } from "./layout.ts";
import { type Covering, moduleSeen } from "./room.ts";
import { localDifference, localMeans, localWindow } from "./threshold.ts";

/** An area in modules of the code. Its right and bottom edges are exclusive. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A small copy of a picture: `shadesSide` × `shadesSide` pixels with red, green, blue and opacity. */
export type Shades = Uint8Array;
export const shadesSide = 96;

/** The area of a picture in the middle of a code of `size` modules. */
export function pictureArea({ png, size: share }: CentralImage, size: number): Area {
  const { width, height } = pngSize(png);
  const longer = Math.max(width, height);
  const [across, down] = [(share * size * width) / longer, (share * size * height) / longer];
  return {
    left: (size - across) / 2,
    top: (size - down) / 2,
    right: (size + across) / 2,
    bottom: (size + down) / 2,
  };
}

/** The area whose dots a picture hides: the picture with its margin. Undefined when it hides none. */
export function hiddenArea(image: CentralImage, size: number, scale: number): Area | undefined {
  if (!image.hideBackgroundDots) return undefined;
  const { left, top, right, bottom } = pictureArea(image, size);
  const margin = image.margin / scale;
  return { left: left - margin, top: top - margin, right: right + margin, bottom: bottom + margin };
}

export function touches({ left, top, right, bottom }: Area, row: number, column: number): boolean {
  return column + 1 > left && column < right && row + 1 > top && row < bottom;
}

/**
 * What a reader sees of a code with a picture in the middle. Some readers compare with the middle between the code's
 * colors, others with what is around a module. Where the two disagree, as within large dark areas, the module is
 * unknown.
 */
export function coveringOf(design: Design, image: CentralImage, shades: Shades): Covering {
  const background = typical(design.background, white);
  const [light, dark] = [lumaOf(background), lumaOf(typical(design.dots.paint, background))];
  return (size) => {
    const area = pictureArea(image, size);
    const hidden = hiddenArea(image, size, layOutCode(size, design).scale);
    const covered = Float64Array.from({ length: size * size }, (_, module) => {
      const [row, column] = [Math.floor(module / size), module % size];
      const color = shadeAt(shades, area, row, column);
      const isHidden = hidden !== undefined && touches(hidden, row, column);
      return isHidden || color.alpha >= 0.5 ? lumaOf(over(color, background)) : Number.NaN;
    });
    // Elsewhere the code is dark as often as light.
    const lumas = covered.map((luma) => (Number.isNaN(luma) ? (light + dark) / 2 : luma));
    const means = localMeans(lumas, { width: size, height: size }, localWindow);
    return Int8Array.from(covered, (luma, module) => {
      if (Number.isNaN(luma)) return moduleSeen.code;
      const isDark = luma < (light + dark) / 2;
      const isDarkHere = luma + localDifference < (means[module] ?? 0);
      return isDark !== isDarkHere ? moduleSeen.unknown : isDark ? moduleSeen.dark : moduleSeen.light;
    });
  };
}

const clear: Color = { red: 0, green: 0, blue: 0, alpha: 0 };

/** The color of a picture in the middle of a module. */
function shadeAt(shades: Shades, { left, top, right, bottom }: Area, row: number, column: number): Color {
  const x = Math.floor(((column + 0.5 - left) / (right - left)) * shadesSide);
  const y = Math.floor(((row + 0.5 - top) / (bottom - top)) * shadesSide);
  if (x < 0 || y < 0 || x >= shadesSide || y >= shadesSide) return clear;
  const start = (y * shadesSide + x) * 4;
  const [red = 0, green = 0, blue = 0, opacity = 0] = shades.subarray(start, start + 4);
  return { red, green, blue, alpha: opacity / 255 };
}

/** The mean of a fill's colors, on an opaque color. */
function typical(paint: Fill, behind: Color): Color {
  const colors = colorsOf(paint).map((color) => over(color, behind));
  const mean = (part: (color: Color) => number) =>
    colors.reduce((sum, color) => sum + part(color), 0) / colors.length;
  return {
    red: mean(({ red }) => red),
    green: mean(({ green }) => green),
    blue: mean(({ blue }) => blue),
    alpha: 1,
  };
}

/** The width and height of a PNG file, in pixels. Throws a RangeError for any other file. */
function pngSize(png: Uint8Array): { readonly width: number; readonly height: number } {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  // Checks the first half of the signature, and that the first chunk is the header, as it must be.
  if (png.length < 24 || view.getUint32(0) !== 0x89504e47 || view.getUint32(12) !== 0x49484452)
    throw new RangeError("the picture in the middle is no PNG");
  return { width: view.getUint32(16), height: view.getUint32(20) };
}
