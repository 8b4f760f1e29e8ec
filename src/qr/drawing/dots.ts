import type { DotsType } from "./design.ts";
import type { Grid } from "./grid.ts";
import { type Corner, drawRounded, isOuter, outlines } from "./outline.ts";
import type { PathWriter, Point } from "./path.ts";

type DrawDots = (path: PathWriter, grid: Grid) => void;

const drawings: Readonly<Record<DotsType, DrawDots>> = {
  SQUARE: joined(() => 0),
  ROUNDED: joined((corner) => (isOuter(corner) ? 0.5 : 0)),
  EXTRA_ROUNDED: joined((corner) => (isOuter(corner) ? 1 : 0.5)),
  CLASSY: joined((corner) => (isRoundInLeaf(corner) ? 0.5 : 0)),
  // With a radius of 1, a leaf by itself fills half a module, and quirc and ZBar missed five codes with pictures.
  CLASSY_ROUNDED: joined((corner) => (isRoundInLeaf(corner) ? 0.75 : 0.25)),
  DOTS: each((path, center) => path.circle(center, 0.48)),
  BUBBLY_DOTS: each((path, center, cell) => path.circle(center, bubbleRadii[bubble(cell)] ?? 0.5)),
  HEXAGON: each((path, center) => path.polygon(around(center, hexagon))),
  OCTAGON: each((path, center) => path.polygon(around(center, octagon))),
  CIRCUIT_CHIP: circuit,
};

/** Draws the dots of a code. Every form covers the middle of its cell, which is where readers look. */
export function drawDots(path: PathWriter, grid: Grid, type: DotsType): void {
  drawings[type](path, grid);
}

/** A hexagon and an octagon that fill a cell, as offsets from its middle. */
export const hexagon: readonly Point[] = [
  [0, -0.5],
  [0.5, -0.25],
  [0.5, 0.25],
  [0, 0.5],
  [-0.5, 0.25],
  [-0.5, -0.25],
];
/** Half the length of an octagon's side. */
const cut = (Math.SQRT2 - 1) / 2;
export const octagon: readonly Point[] = [
  [-cut, -0.5],
  [cut, -0.5],
  [0.5, -cut],
  [0.5, cut],
  [cut, 0.5],
  [-cut, 0.5],
  [-0.5, cut],
  [-0.5, -cut],
];

export function around([x, y]: Point, shape: readonly Point[], size = 1): Point[] {
  return shape.map(([across, down]) => [x + across * size, y + down * size]);
}

function joined(radiusOf: (corner: Corner) => number): DrawDots {
  return (path, { side, cells }) => drawRounded(path, outlines(side, cells), radiusOf);
}

/** Whether a leaf is round at the corner: top left or bottom right. The two other corners are its tips. */
function isRoundInLeaf(corner: Corner): boolean {
  return isOuter(corner) && (corner.from === 3 || corner.from === 1);
}

/** Draws every cell by itself. Only alignment patterns are joined, because some readers miss them in pieces. */
function each(draw: (path: PathWriter, center: Point, cell: number) => void): DrawDots {
  return (path, grid) => {
    const { side, cells, landmarks } = grid;
    for (let cell = 0; cell < cells.length; cell++) {
      if (cells[cell] === 1 && landmarks[cell] === 0)
        draw(path, [(cell % side) + 0.5, Math.floor(cell / side) + 0.5], cell);
    }
    drawLandmarks(path, grid);
  };
}

function drawLandmarks(path: PathWriter, { side, cells, landmarks }: Grid): void {
  const shapes = outlines(
    side,
    cells.map((cell, index) => cell & (landmarks[index] ?? 0)),
  );
  drawRounded(path, shapes, () => 1);
}

/**
 * The radii of bubbles, which overlap their neighbours or leave room. With radii from 0.4 on, OpenCV took one module in
 * several for light.
 */
const bubbleRadii = [0.45, 0.47, 0.48, 0.53, 0.55];

function bubble(cell: number): number {
  return (Math.imul(cell + 1, 2_654_435_761) >>> 16) % bubbleRadii.length;
}

/**
 * Where the three parts of a cell begin: a conductor fills the middle one, a pad all three. Of 360 codes with conductors
 * of 0.5, 0.6 and 0.7 modules OpenCV missed 12, 3 and none.
 */
const partStarts = [0, 0.15, 0.85];
const partCount = partStarts.length;

/**
 * Draws conductors along rows and columns, with a round pad where one ends or turns. Pads and conductors have one
 * outline, because rasterisers disagree on pixels that two shapes share.
 */
function circuit(path: PathWriter, grid: Grid): void {
  const { side, cells, landmarks } = grid;
  const isDark = (row: number, column: number) => {
    const cell = row * side + column;
    return (
      row >= 0 && column >= 0 && row < side && column < side && cells[cell] === 1 && landmarks[cell] === 0
    );
  };
  const partsAcross = side * partCount;
  const parts = new Uint8Array(partsAcross * partsAcross);
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      if (!isDark(row, column)) continue;
      const [right, below] = [isDark(row, column + 1), isDark(row + 1, column)];
      const [left, above] = [isDark(row, column - 1), isDark(row - 1, column)];
      const isAcross = left && right && !above && !below;
      const isDown = above && below && !left && !right;
      for (let part = 0; part < partCount * partCount; part++) {
        const [down, across] = [Math.floor(part / partCount), part % partCount];
        if ((isAcross && down !== 1) || (isDown && across !== 1)) continue;
        parts[(row * partCount + down) * partsAcross + column * partCount + across] = 1;
      }
    }
  }
  const inModules = (place: number) => Math.floor(place / partCount) + (partStarts[place % partCount] ?? 0);
  const shapes = outlines(partsAcross, parts).map((corners) =>
    corners.map(({ point: [x, y], from, to }): Corner => {
      return { point: [inModules(x), inModules(y)], from, to };
    }),
  );
  drawRounded(path, shapes, (corner) => (isOuter(corner) ? 0.5 : 0));
  drawLandmarks(path, grid);
}
