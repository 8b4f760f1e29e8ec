import { black, type Color, over, white } from "../../lib/color.ts";
import { luminance, mix } from "./color.ts";

/**
 * What may lie behind a text or a line: every color whose luminance is within a range. A single color is a range of
 * one; a gradient and an image have many.
 */
export interface Ground {
  /** One of the colors, whose hue stands for all. */
  readonly color: Color;
  /** By WCAG 2, 0 to 1. */
  readonly least: number;
  readonly most: number;
}

export function groundOf(color: Color): Ground {
  const value = luminance(color);
  return { color, least: value, most: value };
}

/** The grounds of a gradient between opaque colors, one for each pair of neighbours; of one color it is one. */
export function groundsOfGradient(colors: readonly Color[]): readonly Ground[] {
  const [first, ...rest] = colors;
  if (first === undefined || rest.length === 0) return colors.map(groundOf);
  return rest.map((to, index) => between(colors[index] ?? first, to));
}

/**
 * The grounds of a gradient under a color that may let some of it through. Browsers round the colors that are then seen
 * in their own ways, so a channel may be one more or less.
 */
export function groundsThrough(color: Color, gradient: readonly Color[]): readonly Ground[] {
  const seen = gradient.map((each) => over(color, each));
  const grounds = groundsOfGradient(seen);
  if (color.alpha === 0 || color.alpha === 1) return grounds;
  const rounded = [-1, 1].map((by) => seen.map((each) => shifted(each, by)));
  return [...grounds, ...rounded.flatMap(groundsOfGradient)];
}

/** The ground of an image under a color that lets some of it through: anything from black to white. */
export function groundOfImage(color: Color): Ground {
  return {
    color: over(color, white),
    least: luminance(shifted(over(color, black), -1)),
    most: luminance(shifted(over(color, white), 1)),
  };
}

/**
 * The colors between two. Every channel runs straight from one to the other, and luminance is a convex function of the
 * channels, so that the lightest color is one of the two, and a search in thirds finds the darkest.
 */
function between(from: Color, to: Color): Ground {
  const at = (share: number) => luminance(mix(from, to, share));
  let [low, high] = [0, 1];
  for (let round = 0; round < 16; round++) {
    const third = (high - low) / 3;
    if (at(low + third) < at(high - third)) high -= third;
    else low += third;
  }
  const [one, other] = [luminance(from), luminance(to)];
  const darkest = luminance(shifted(mix(from, to, (low + high) / 2), -1));
  return { color: from, least: Math.min(one, other, darkest), most: Math.max(one, other) };
}

/** The color with every channel a step higher or lower, because screens round colors in their own ways. */
function shifted({ red, green, blue, alpha }: Color, by: number): Color {
  const step = (value: number) => Math.min(255, Math.max(0, value + by));
  return { red: step(red), green: step(green), blue: step(blue), alpha };
}

/** The least contrast by WCAG 2 of an opaque color with any color of the grounds: 1 for none, 21 for black on white. */
export function leastContrast(color: Color, grounds: readonly Ground[]): number {
  const value = luminance(color);
  return grounds.reduce((least, ground) => Math.min(least, contrastWith(value, ground)), 21);
}

function contrastWith(value: number, { least, most }: Ground): number {
  if (value >= most) return (value + 0.05) / (most + 0.05);
  return value <= least ? (least + 0.05) / (value + 0.05) : 1;
}

/** Whether white is easier to read on the grounds than black. */
export function areDark(grounds: readonly Ground[]): boolean {
  return leastContrast(white, grounds) > leastContrast(black, grounds);
}

/**
 * The wanted color if its contrast with every ground is at least `ratio`. Otherwise the color that has this contrast and
 * is the nearest on the way to black or to white. A color on the other side of its ground, such as white on yellow, gives
 * way to a shade of the ground, which keeps the look of the page. Where no color is enough, black or white.
 */
export function readable(wanted: Color, grounds: readonly Ground[], ratio: number): Color {
  const ground = grounds[0]?.color ?? white;
  const solid = over(wanted, ground);
  if (leastContrast(solid, grounds) >= ratio) return solid;
  const passes = (color: Color) => leastContrast(color, grounds) >= ratio;
  const ways = [black, white].flatMap((end) => {
    const share = leastShare((part) => passes(mix(solid, end, part)));
    return share === undefined ? [] : [{ end, share }];
  });
  const [way] = ways.toSorted((one, other) => one.share - other.share);
  if (way === undefined) return areDark(grounds) ? white : black;
  const { end, share } = way;
  const isAcross = luminance(solid) < luminance(ground) !== (end === black);
  if (!isAcross || luminance(solid) === luminance(ground)) return mix(solid, end, share);
  const ofGround = leastShare((part) => passes(mix(ground, end, part)));
  return ofGround === undefined ? end : mix(ground, end, ofGround);
}

/** How finely shares are told apart: as finely as the channels of colors. */
const shares = 256;

/** The least share, above 0, of which the condition holds; it must hold of 1, and of every share above one of which it holds. */
export function leastShare(holds: (share: number) => boolean): number | undefined {
  if (!holds(1)) return undefined;
  let [fails, found] = [0, shares];
  while (found - fails > 1) {
    const middle = (fails + found) >> 1;
    if (holds(middle / shares)) found = middle;
    else fails = middle;
  }
  return found / shares;
}
