import sharp from "sharp";
import type { Design } from "../drawing/design.ts";
import { type CodeLayout, layOutCode } from "../drawing/layout.ts";
import { finderSide, type Matrix } from "../drawing/matrix.ts";
import type { Painting } from "./conditions.ts";

/** OpenCV makes the shorter side this long before it looks for finder patterns. */
const searchedSide = 512;

/** The blur of what it compares a pixel with to tell dark from light, and how much darker than that dark is. */
const searchedBlur = 12.8;
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

interface Bits {
  /** 1 is dark. */
  readonly dark: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/**
 * By how much the three finder patterns of a painted code look more like some than any other place does, as OpenCV
 * measures it. It takes the places that look most like some until each pattern has one, and misses the code when there
 * is a fourth. At 0 or less it does.
 */
export async function finderClearance(painting: Painting, { size }: Matrix, design: Design): Promise<number> {
  const bits = await bitsOf(painting);
  const factor = bits.width / painting.info.width;
  const { scale, left, top } = layOutCode(size, design);
  const middles = middlesOf(size, { scale: scale * factor, left: left * factor, top: top * factor });
  const best = middles.map(() => 1);
  let other = 1;
  for (const { x, y, off } of placesOf(bits)) {
    const own = middles.findIndex(
      (one) => Math.max(Math.abs(one.x - x), Math.abs(one.y - y)) < 2 * scale * factor,
    );
    if (own === -1) other = Math.min(other, off);
    else best[own] = Math.min(best[own] ?? 1, off);
  }
  // OpenCV goes in steps of a hundredth.
  return other - Math.ceil(Math.max(...best) * 100) / 100;
}

async function bitsOf({ data, info }: Painting): Promise<Bits> {
  const factor = searchedSide / Math.min(info.width, info.height);
  const [width, height] = [Math.round(info.width * factor), Math.round(info.height * factor)];
  const luma = [0.299, 0.587, 0.114] as [number, number, number];
  let image = sharp(data, { raw: info });
  if (factor < 1) image = image.resize(width, height, { fit: "fill", kernel: "linear" });
  const seen = await image.recomb([luma, luma, luma]).extractChannel(0).raw().toBuffer();
  const grey = factor > 1 ? enlarged(seen, info, { width, height }) : seen;
  const means = await sharp(grey, { raw: { width, height, channels: 1 } })
    .blur({ sigma: searchedBlur, minAmplitude: 0.05 })
    .extractChannel(0)
    .raw()
    .toBuffer();
  const dark = grey.map((value, index) => (value <= (means[index] ?? 0) - darker ? 1 : 0));
  return { dark, width, height };
}

interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** Enlarges a grey image as OpenCV does: every pixel is mixed from the four that are nearest. */
function enlarged(grey: Uint8Array, from: PixelSize, to: PixelSize): Uint8Array {
  const result = new Uint8Array(to.width * to.height);
  const steps = (length: number, whole: number) =>
    Array.from({ length: whole }, (_, index) => {
      const place = Math.min(length - 1, Math.max(0, ((index + 0.5) * length) / whole - 0.5));
      const before = Math.floor(place);
      return { before, after: Math.min(length - 1, before + 1), part: place - before };
    });
  const columns = steps(from.width, to.width);
  for (const [y, { before, after, part }] of steps(from.height, to.height).entries()) {
    const [upper, lower] = [before * from.width, after * from.width];
    for (const [x, column] of columns.entries()) {
      const mixed = (row: number) =>
        (grey[row + column.before] ?? 0) * (1 - column.part) + (grey[row + column.after] ?? 0) * column.part;
      result[y * to.width + x] = Math.round(mixed(upper) * (1 - part) + mixed(lower) * part);
    }
  }
  return result;
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
    edges.push(width);
    for (let first = 0; first + 5 < edges.length; first += 2) {
      const lengths = across.map((_, part) => (edges[first + part + 1] ?? 0) - (edges[first + part] ?? 0));
      if (offOf(lengths, across) >= offMax) continue;
      const x = Math.round(((edges[first] ?? 0) + (edges[first + 5] ?? 0)) / 2);
      const column = [...runsFrom(bits, x, y, -1), ...runsFrom(bits, x, y, 1)];
      if (column.length === 6) places.push({ x, y, off: offOf(column, [...half, ...half]) });
    }
  }
  return places;
}

/** The lengths of the first three runs from a pixel up (-1) or down (1); fewer at the image's edge. */
function runsFrom({ dark, width, height }: Bits, x: number, y: number, step: -1 | 1): number[] {
  const lengths: number[] = [];
  for (let row = y, length = 1, before = 1; row + step >= 0 && row + step < height; row += step, length++) {
    const now = dark[(row + step) * width + x] ?? 0;
    if (now === before) continue;
    before = now;
    if (lengths.push(length) === 3) break;
    length = 0;
  }
  return lengths;
}

/** How far the parts of a line are from what they should be, added up. */
function offOf(lengths: readonly number[], parts: readonly number[]): number {
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  return lengths.reduce((sum, length, part) => sum + Math.abs(length / whole - (parts[part] ?? 0)), 0);
}
