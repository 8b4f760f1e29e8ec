import type { Design } from "../drawing/design.ts";
import { layOutCode } from "../drawing/layout.ts";
import { finderSide, type Matrix } from "../drawing/matrix.ts";
import type { Bits, Grey } from "./grey.ts";

/*
 * ZXing, as it is written in Java and ported to many languages, searches rows from the top, and stops at three patterns
 * of one size. Among dots with gaps it meets places that pass for one, and then it never comes to the pattern below.
 */

/** A pattern, and how often it was met. */
interface Center {
  readonly x: number;
  readonly y: number;
  /** The pixels of a module. */
  readonly scale: number;
  readonly count: number;
}

/** Whether the search ends with the three finder patterns. */
export function areFindersMet(grey: Grey, { size }: Matrix, design: Design): boolean {
  const { scale, left, top } = layOutCode(size, design);
  const [near, far] = [(finderSide / 2) * scale, (size - finderSide / 2) * scale];
  const met = search(darkInBlocks(grey)).filter(isConfirmed);
  return [
    [near, near],
    [far, near],
    [near, far],
  ].every(([x = 0, y = 0]) =>
    met.some((one) => Math.max(Math.abs(one.x - left - x), Math.abs(one.y - top - y)) < 2 * scale),
  );
}

function isConfirmed({ count }: Center): boolean {
  return count >= 2;
}

/** How many rows are searched at a time, before the first pattern and after it. */
const rowsApart = 3;
const rowsApartLater = 2;

function search(bits: Bits): readonly Center[] {
  let centers: readonly Center[] = [];
  let hasSkipped = false;
  let step = rowsApart;
  for (let y = step - 1; y < bits.height; y += step) {
    const edges = edgesOf(bits, y);
    let isDone = false;
    for (let first = 0; first + 5 < edges.length; first += 2) {
      const runs = [0, 1, 2, 3, 4].map((run) => (edges[first + run + 1] ?? 0) - (edges[first + run] ?? 0));
      const found = centerOf(bits, runs, (edges[first + 2] ?? 0) + (edges[first + 3] ?? 0), y);
      if (found === undefined) continue;
      centers = withCenter(centers, found);
      step = rowsApartLater;
      if (hasSkipped) isDone = areOneSize(centers);
      else {
        const skip = rowsToSkip(centers);
        hasSkipped = centers.filter(isConfirmed).length > 1;
        if (skip > (runs[2] ?? 0)) {
          y += skip - (runs[2] ?? 0) - step;
          break;
        }
      }
      // The next pattern begins after this one.
      first += 4;
    }
    if (isDone) break;
  }
  return centers;
}

/** Where the runs of a row begin, first a dark one, and where its last dark one ends. */
function edgesOf({ dark, width }: Bits, y: number): number[] {
  const edges: number[] = [];
  for (let x = 0, before = 0; x < width; x++) {
    const now = dark[y * width + x] ?? 0;
    if (now !== before) edges.push(x);
    before = now;
  }
  if (edges.length % 2 === 1) edges.push(width);
  return edges;
}

/** The pattern whose runs along a row these are, if it looks like one along its column, row and diagonal as well. */
function centerOf(bits: Bits, runs: readonly number[], twiceX: number, y: number): Center | undefined {
  if (!looksLikePattern(runs, 2)) return undefined;
  const whole = sumOf(runs);
  const column = through(bits, { x: Math.floor(twiceX / 2), y, across: 0, down: 1 });
  if (column === undefined || !isAsLong(column.runs, whole, 0.4)) return undefined;
  const middleY = y + column.middle;
  const from = { x: Math.floor(twiceX / 2), y: Math.floor(middleY) };
  const row = through(bits, { ...from, across: 1, down: 0 });
  if (row === undefined || !isAsLong(row.runs, whole, 0.2)) return undefined;
  const middleX = from.x + row.middle;
  const diagonal = through(bits, { x: Math.floor(middleX), y: from.y, across: 1, down: 1 });
  if (diagonal === undefined || !looksLikePattern(diagonal.runs, 1.333)) return undefined;
  return { x: middleX, y: middleY, scale: whole / finderSide, count: 1 };
}

function isAsLong(runs: readonly number[], whole: number, part: number): boolean {
  return looksLikePattern(runs, 2) && Math.abs(sumOf(runs) - whole) < whole * part;
}

/** Whether runs are as 1 : 1 : 3 : 1 : 1; each may be off by a part of its length. */
function looksLikePattern(runs: readonly number[], part: number): boolean {
  const module = sumOf(runs) / finderSide;
  if (module < 1 || runs.includes(0)) return false;
  return runs.every((run, index) => {
    const modules = index === 2 ? 3 : 1;
    return Math.abs(run - modules * module) < (modules * module) / part;
  });
}

interface Line {
  readonly x: number;
  readonly y: number;
  readonly across: 0 | 1;
  readonly down: 0 | 1;
}

/** The five runs of a line around a pixel, and how far its middle is from the pixel. Undefined when the image ends before. */
function through(bits: Bits, line: Line): { runs: number[]; middle: number } | undefined {
  const [before, after] = [outwards(bits, line, -1), outwards(bits, line, 1)];
  if (before === undefined || after === undefined) return undefined;
  const [inside = 0, light = 0, dark = 0] = after;
  // The pixel itself lies in both halves.
  const middle = (before[0] ?? 0) + inside - 1;
  return { runs: [before[2] ?? 0, before[1] ?? 0, middle, light, dark], middle: inside - middle / 2 };
}

/** The dark, light and dark runs from a pixel on. Undefined when it is light, or the image ends before the third. */
function outwards(
  { dark, width, height }: Bits,
  { x, y, across, down }: Line,
  step: -1 | 1,
): number[] | undefined {
  const runs: number[] = [];
  for (let place = 0, length = 0, before = 1; runs.length < 3; place++, length++) {
    const [column, row] = [x + place * step * across, y + place * step * down];
    const isInside = column >= 0 && row >= 0 && column < width && row < height;
    if (!isInside && runs.length < 2) return undefined;
    const now = isInside ? dark[row * width + column] : 0;
    if (now === before) continue;
    if (length === 0) return undefined;
    runs.push(length);
    [before, length] = [1 - before, 0];
  }
  return runs;
}

/** The centers with one more, which may be one of them that is met again. */
function withCenter(centers: readonly Center[], found: Center): Center[] {
  const known = centers.findIndex(({ x, y, scale }) => {
    const difference = Math.abs(found.scale - scale);
    const isNear = Math.max(Math.abs(found.x - x), Math.abs(found.y - y)) <= found.scale;
    return isNear && (difference <= 1 || difference <= scale);
  });
  return known === -1
    ? [...centers, found]
    : centers.map((one, index) => (index === known ? mixed(one, found) : one));
}

function mixed(one: Center, { x, y, scale }: Center): Center {
  const count = one.count + 1;
  const mean = (before: number, now: number) => (before * one.count + now) / count;
  return { x: mean(one.x, x), y: mean(one.y, y), scale: mean(one.scale, scale), count };
}

/** Two patterns in a row are as far apart as the third is below. */
function rowsToSkip(centers: readonly Center[]): number {
  const [first, second] = centers.filter(isConfirmed);
  if (first === undefined || second === undefined) return 0;
  return Math.trunc((Math.abs(first.x - second.x) - Math.abs(first.y - second.y)) / 2);
}

/** How far the sizes of the centers may be off, added up, as a part of all sizes. */
const sizesOffMax = 0.05;

function areOneSize(centers: readonly Center[]): boolean {
  const confirmed = centers.filter(isConfirmed);
  if (confirmed.length < 3) return false;
  const sum = sumOf(confirmed.map(({ scale }) => scale));
  const mean = sum / centers.length;
  return sumOf(centers.map(({ scale }) => Math.abs(scale - mean))) <= sizesOffMax * sum;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** ZXing calls dark what is no lighter than the mean of 5 × 5 blocks around it. */
const blockSide = 8;
const blocksAround = 2;

/** A block with less contrast than this is taken for background. */
const contrastMin = 24;

function darkInBlocks({ data, width, height }: Grey): Bits {
  const [across, down] = [Math.ceil(width / blockSide), Math.ceil(height / blockSide)];
  const means = new Int32Array(across * down);
  // The last block of a row or column ends at the image's edge.
  const startOf = (block: number, side: number) => Math.min(block * blockSide, side - blockSide);
  for (let row = 0; row < down; row++)
    for (let column = 0; column < across; column++)
      means[row * across + column] = blockMean({ data, width, height }, means, {
        across,
        row,
        column,
        start: startOf(row, height) * width + startOf(column, width),
      });
  const dark = new Uint8Array(width * height);
  const inside = (block: number, count: number) =>
    Math.max(blocksAround, Math.min(block, count - blocksAround - 1));
  for (let row = 0; row < down; row++) {
    for (let column = 0; column < across; column++) {
      const [middleRow, middleColumn] = [inside(row, down), inside(column, across)];
      let sum = 0;
      for (let y = middleRow - blocksAround; y <= middleRow + blocksAround; y++)
        for (let x = middleColumn - blocksAround; x <= middleColumn + blocksAround; x++)
          sum += means[y * across + x] ?? 0;
      const threshold = Math.trunc(sum / (2 * blocksAround + 1) ** 2);
      const start = startOf(row, height) * width + startOf(column, width);
      for (let y = 0; y < blockSide; y++)
        for (let x = 0; x < blockSide; x++) {
          const pixel = start + y * width + x;
          if ((data[pixel] ?? 0) <= threshold) dark[pixel] = 1;
        }
    }
  }
  return { dark, width, height };
}

interface Block {
  readonly across: number;
  readonly row: number;
  readonly column: number;
  /** Its first pixel. */
  readonly start: number;
}

/** The mean of a block. One without contrast is light, unless the blocks before it say otherwise. */
function blockMean({ data, width }: Grey, means: Int32Array, { across, row, column, start }: Block): number {
  let [sum, least, most] = [0, 255, 0];
  for (let y = 0; y < blockSide; y++) {
    for (let x = 0; x < blockSide; x++) {
      const value = data[start + y * width + x] ?? 0;
      sum += value;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  if (most - least > contrastMin) return sum >> 6;
  const light = least >> 1;
  if (row === 0 || column === 0) return light;
  const place = row * across + column;
  const [above, before, both] = [means[place - across], means[place - 1], means[place - across - 1]];
  const around = ((above ?? 0) + 2 * (before ?? 0) + (both ?? 0)) >> 2;
  return least < around ? around : light;
}
