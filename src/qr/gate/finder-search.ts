import type { Design } from "../drawing/design.ts";
import { type CodeLayout, layOutCode } from "../drawing/layout.ts";
import { finderSide, type Matrix } from "../drawing/matrix.ts";
import { type Bits, type Grey, resized } from "./grey.ts";

/** OpenCV makes the shorter side this long before it looks for finder patterns. */
const searchedSide = 512;

/**
 * OpenCV looks at larger images at their own size first. It compares a pixel with what is around it, so it sees modules
 * of more pixels than this as hollow, and may find other places than the finder patterns. Of 3,000 random designs it
 * missed two for that, both with modules of 23 and 24 pixels.
 */
export const hollowFrom = 20;

/** The part of the image that the patterns' middles span at least. Otherwise it trusts what it saw at the image's own size. */
const codeAreaMin = 0.2;

/** The deviation of what a pixel is compared with to tell dark from light, in how many steps, and how much darker dark is. */
const searchedBlur = 12.8;
const blurRadius = 41;
const darker = 2;

/** The parts of a finder pattern along a row, and of one half of it along a column, from the middle outwards. */
const across = [1 / 7, 1 / 7, 3 / 7, 1 / 7, 1 / 7];
const half = [3 / 14, 1 / 7, 1 / 7];

/** How far the parts along a row may be off, added up. */
const offMax = 0.2;

/** A place that looks like the middle of a finder pattern, and how far its parts along the column are off. */
interface Place {
  readonly x: number;
  readonly y: number;
  readonly off: number;
}

/**
 * By how much the three finder patterns of a painted code look more like some than any other place does, as OpenCV
 * measures it. It takes the places that look most like some until each pattern has one, and misses the code when there
 * is a fourth. At 0 or less it does.
 */
export function finderClearance(grey: Grey, { size }: Matrix, design: Design): number {
  const layout = layOutCode(size, design);
  const seen = [resized(grey, searchedSide)];
  const codeArea = ((size - finderSide) * layout.scale) ** 2;
  const isOwnSizeSeen = Math.min(grey.width, grey.height) > searchedSide;
  if (isOwnSizeSeen && (layout.scale >= hollowFrom || codeArea <= codeAreaMin * grey.width * grey.height))
    seen.push(grey);
  return Math.min(...seen.map((one) => clearanceIn(one, size, scaled(layout, one.width / grey.width))));
}

function scaled({ scale, left, top }: CodeLayout, factor: number): CodeLayout {
  return { scale: scale * factor, left: left * factor, top: top * factor };
}

function clearanceIn(grey: Grey, size: number, layout: CodeLayout): number {
  const middles = middlesOf(size, layout);
  const best = middles.map(() => 1);
  let other = 1;
  for (const { x, y, off } of placesOf(darkerThanAround(grey))) {
    const own = middles.findIndex(
      (one) => Math.max(Math.abs(one.x - x), Math.abs(one.y - y)) < 2 * layout.scale,
    );
    if (own === -1) other = Math.min(other, off);
    else best[own] = Math.min(best[own] ?? 1, off);
  }
  // OpenCV goes in steps of a hundredth.
  return other - Math.ceil(Math.max(...best) * 100) / 100;
}

/** The bell curve from its middle outwards; both halves together make 1. */
const bell = (() => {
  const curve = Array.from({ length: blurRadius + 1 }, (_, distance) =>
    Math.exp(-(distance ** 2) / (2 * searchedBlur ** 2)),
  );
  const whole = 2 * curve.reduce((sum, one) => sum + one, 0) - 1;
  return Float64Array.from(curve, (one) => one / whole);
})();

/** What is darker than the blurred image. A place that looks like a finder pattern may hang on one pixel, so no pixel differs. */
function darkerThanAround({ data, width, height }: Grey): Bits {
  const across = blurredRows(data, width, height);
  const dark = new Uint8Array(width * height);
  const line = new Float64Array(width);
  for (let y = 0; y < height; y++) {
    line.fill(0);
    for (const [distance, part] of bell.entries()) {
      const above = Math.max(0, y - distance) * width;
      const below = Math.min(height - 1, y + distance) * width;
      const share = distance === 0 ? part / 2 : part;
      for (let x = 0; x < width; x++)
        line[x] = (line[x] ?? 0) + ((across[above + x] ?? 0) + (across[below + x] ?? 0)) * share;
    }
    for (let x = 0; x < width; x++) {
      const mean = Math.round(line[x] ?? 0);
      if ((data[y * width + x] ?? 0) <= mean - darker) dark[y * width + x] = 1;
    }
  }
  return { dark, width, height };
}

function blurredRows(data: Uint8Array, width: number, height: number): Float32Array {
  const blurred = new Float32Array(width * height);
  const line = new Float64Array(width + 2 * blurRadius);
  for (let y = 0; y < height; y++) {
    const start = y * width;
    for (let place = 0; place < line.length; place++)
      line[place] = data[start + Math.min(width - 1, Math.max(0, place - blurRadius))] ?? 0;
    for (let x = 0; x < width; x++) {
      const middle = x + blurRadius;
      let sum = (line[middle] ?? 0) * (bell[0] ?? 0);
      for (let distance = 1; distance <= blurRadius; distance++)
        sum += ((line[middle - distance] ?? 0) + (line[middle + distance] ?? 0)) * (bell[distance] ?? 0);
      blurred[start + x] = sum;
    }
  }
  return blurred;
}

function middlesOf(
  size: number,
  { scale, left, top }: CodeLayout,
): { readonly x: number; readonly y: number }[] {
  const [near, far] = [finderSide / 2, size - finderSide / 2];
  return [
    [near, near],
    [far, near],
    [near, far],
  ].map(([column = 0, row = 0]) => ({ x: left + column * scale, y: top + row * scale }));
}

function placesOf(bits: Bits): Place[] {
  const { dark, width, height } = bits;
  const places: Place[] = [];
  for (let y = 0; y < height; y++) {
    const edges: number[] = [];
    for (let x = 0, before = 0; x < width; x++) {
      const now = dark[y * width + x] ?? 0;
      if (now !== before) edges.push(x);
      before = now;
    }
    edges.push(width - 1);
    for (let first = 0; first + 5 < edges.length; first += 2) {
      const lengths = across.map((_, part) => (edges[first + part + 1] ?? 0) - (edges[first + part] ?? 0));
      if (offOf(lengths, across) >= offMax) continue;
      const x = toEven(((edges[first] ?? 0) + (edges[first + 5] ?? 0)) / 2);
      const below = runsFrom(bits, { x, y, step: 1, count: 3 });
      // Runs that are missing below, at the image's edge, are taken from above.
      const column = [...below, ...runsFrom(bits, { x, y, step: -1, count: 6 - below.length })];
      if (column.length === 6) places.push({ x, y, off: offOf(column, [...half, ...half]) });
    }
  }
  return places;
}

/** Rounds a half to the even number. */
function toEven(value: number): number {
  return value % 2 === 0.5 ? Math.floor(value) : Math.round(value);
}

interface Walk {
  readonly x: number;
  readonly y: number;
  /** Up (-1) or down (1). */
  readonly step: -1 | 1;
  readonly count: number;
}

/** The lengths of the first `count` runs from a pixel; fewer at the image's edge. */
function runsFrom({ dark, width, height }: Bits, { x, y, step, count }: Walk): number[] {
  const lengths: number[] = [];
  for (let row = y, length = 1, before = 1; row + step >= 0 && row + step < height; row += step, length++) {
    const now = dark[(row + step) * width + x] ?? 0;
    if (now === before) continue;
    before = now;
    if (lengths.push(length) === count) break;
    length = 0;
  }
  return lengths;
}

/** How far the parts of a line are from what they should be, added up. */
function offOf(lengths: readonly number[], parts: readonly number[]): number {
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  return lengths.reduce((sum, length, part) => sum + Math.abs(length / whole - (parts[part] ?? 0)), 0);
}
