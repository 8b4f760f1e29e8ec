import type { Matrix } from "./matrix.ts";

const maskPatterns = [0, 1, 2, 3, 4, 5, 6, 7] as const;
export type MaskPattern = (typeof maskPatterns)[number];

/**
 * The code with the mask that the standard prefers, unless it has decoys: then the one with the fewest of all masks.
 * Readers take any mask.
 */
export function withoutDecoys(encode: (maskPattern?: MaskPattern) => Matrix): Matrix {
  let best = encode();
  let fewest = blurredDecoysOf(best);
  for (const maskPattern of maskPatterns) {
    if (fewest === 0) break;
    const other = encode(maskPattern);
    const decoys = blurredDecoysOf(other);
    if (decoys < fewest) [best, fewest] = [other, decoys];
  }
  return best;
}

/** Decoys, and by far less weight the places that look like some once dots have other forms than squares. */
function blurredDecoysOf(matrix: Matrix): number {
  return decoysOf(matrix) * 100 + decoysOf(matrix, nearlyMax);
}

/** The parts of a finder pattern along a line through its middle. */
const parts = [1 / 7, 1 / 7, 3 / 7, 1 / 7, 1 / 7];

/** How far the parts may be off, added up, for a line to look like one through a finder pattern, or exactly like it. */
const nearlyMax = 0.2;
const exactlyMax = 0.15;

/** The three finder patterns, each seen along its row and along its column. */
const trueCrossings = 6;

/**
 * How many places look like the middle of a finder pattern without being one: exactly along their row or column, and
 * nearly across it. OpenCV takes such a place for a fourth pattern, and gives up.
 *
 * Of 400 plain codes at 300, 512 and 800 pixels OpenCV missed 22 at some size, and 21 of these have places exact
 * along their column; of 154 codes that it read at every size, 13 have.
 */
export function decoysOf({ size, modules }: Matrix, alongMax = exactlyMax): number {
  const rows = Array.from({ length: size }, (_, line) =>
    edgesOf(size, (place) => modules[line * size + place]),
  );
  const columns = rows.map((_, line) => edgesOf(size, (place) => modules[place * size + line]));
  return crossings(rows, columns, alongMax) + crossings(columns, rows, alongMax) - trueCrossings;
}

/** Where the runs of equal modules along a line begin, first a dark one, and where the last ends. */
function edgesOf(size: number, at: (place: number) => number | undefined): number[] {
  const edges: number[] = [];
  for (let place = 0, before = 0; place < size; place++) {
    const module = at(place) ?? 0;
    if (module !== before) edges.push(place);
    before = module;
  }
  edges.push(size);
  return edges;
}

function crossings(lines: readonly number[][], across: readonly number[][], alongMax: number): number {
  let count = 0;
  for (const [line, edges] of lines.entries()) {
    for (const middle of middlesOf(edges, alongMax)) {
      for (const place of modulesAt(middle)) {
        const others = middlesOf(across[place] ?? [], nearlyMax);
        if (others.some((other) => modulesAt(other).includes(line))) count++;
      }
    }
  }
  return count;
}

/** The modules in which a middle lies: two when it lies on the edge between them. */
function modulesAt(middle: number): number[] {
  return Number.isInteger(middle) ? [middle - 1, middle] : [Math.floor(middle)];
}

/** The middles of all that looks like a finder pattern along a line. */
function middlesOf(edges: readonly number[], offMax: number): number[] {
  const found: number[] = [];
  for (let first = 0; first + 5 < edges.length; first += 2) {
    const start = edges[first] ?? 0;
    const length = (edges[first + 5] ?? 0) - start;
    let off = 0;
    for (let part = 0; part < 5; part++) {
      const own = (edges[first + part + 1] ?? 0) - (edges[first + part] ?? 0);
      off += Math.abs(own / length - (parts[part] ?? 0));
    }
    if (off < offMax) found.push(start + length / 2);
  }
  return found;
}
