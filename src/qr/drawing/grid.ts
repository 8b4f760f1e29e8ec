import type { Design } from "./design.ts";
import { type CodeLayout, circleRadius, quietZone } from "./layout.ts";
import { alignmentCenters, isFinder, type Matrix } from "./matrix.ts";
import { type Area, touches } from "./picture.ts";

/**
 * What is drawn as dots: `side` × `side` cells, row by row, 1 is dark. The code begins at cell `margin` on both axes.
 */
export interface Grid {
  readonly side: number;
  readonly margin: number;
  readonly cells: Uint8Array;
  /** 1 where a cell belongs to an alignment pattern, dark or light. */
  readonly landmarks: Uint8Array;
}

/**
 * The dots of a code: its dark modules and its surroundings, without finder patterns and without the modules in
 * `hidden`.
 */
export function dotsOf(matrix: Matrix, shape: Design["shape"], hidden: Area | undefined): Grid {
  const margin = shape === "CIRCLE" ? Math.ceil(circleRadius(matrix.size) - matrix.size / 2) : 0;
  const side = matrix.size + 2 * margin;
  const cells = new Uint8Array(side * side);
  for (let row = 0; row < matrix.size; row++) {
    for (let column = 0; column < matrix.size; column++) {
      if (matrix.modules[row * matrix.size + column] !== 1 || isFinder(matrix.size, row, column)) continue;
      if (hidden !== undefined && touches(hidden, row, column)) continue;
      cells[(row + margin) * side + column + margin] = 1;
    }
  }
  const landmarks = new Uint8Array(side * side);
  for (const { row, column } of alignmentCenters(matrix.size)) {
    for (let line = row - 2; line <= row + 2; line++) {
      const first = (line + margin) * side + column - 2 + margin;
      landmarks.fill(1, first, first + 5);
    }
  }
  const grid = { side, margin, cells, landmarks };
  if (shape === "CIRCLE") surround(grid, matrix);
  return grid;
}

/**
 * Fills the circle around a code and its quiet zone with dots that carry nothing. The same code always gets the same
 * dots.
 */
function surround({ side, margin, cells }: Grid, matrix: Matrix): void {
  const middle = side / 2;
  const radius = circleRadius(matrix.size);
  const near = margin - quietZone;
  const far = margin + matrix.size + quietZone;
  let state = matrix.modules.reduce((hash, module) => Math.imul(hash ^ module, 16_777_619), 2_166_136_261);
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const isNear = row >= near && row < far && column >= near && column < far;
      if (isNear || Math.hypot(row + 0.5 - middle, column + 0.5 - middle) > radius - 0.5) continue;
      state = nextRandom(state);
      cells[row * side + column] = (state >>> 16) & 1;
    }
  }
}

/** Marsaglia's xorshift, which looks random enough. It never becomes zero unless it begins with zero. */
function nextRandom(state: number): number {
  let next = state || 1;
  next ^= next << 13;
  next ^= next >>> 17;
  return next ^ (next << 5);
}

/** The size of a module in a layout, and where the grid's first cell stands. */
export function originOf({ margin }: Grid, { scale, left, top }: CodeLayout): CodeLayout {
  return { scale, left: left - margin * scale, top: top - margin * scale };
}
