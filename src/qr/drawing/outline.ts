import type { PathWriter, Point } from "./path.ts";

/** The direction of an edge: right, down, left, up. */
export type Direction = 0 | 1 | 2 | 3;

/** A point where an outline turns. Outlines run clockwise around dark areas, so a right turn is an outer corner. */
export interface Corner {
  readonly point: Point;
  readonly from: Direction;
  readonly to: Direction;
}

const steps: readonly Point[] = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
];

/**
 * The outlines of all connected dark cells (1) among `side` × `side`. Neighbours become one shape, because a rasteriser
 * could let the background shine through an edge between them. Cells that touch only at a corner stay apart.
 */
export function outlines(side: number, cells: Uint8Array): Corner[][] {
  const edges = edgesOf(side, cells);
  const found: Corner[][] = [];
  for (const [start, directions] of edges) {
    for (let [first] = directions; first !== undefined; [first] = directions)
      found.push(follow(edges, side + 1, start, first));
  }
  return found;
}

/** Whether the outline turns right there, at an outer corner of the dark area. */
export function isOuter({ from, to }: Corner): boolean {
  return to === (from + 1) % 4;
}

/**
 * Draws outlines with rounded corners. `radiusOf` gives the radius in modules. It is cut where two corners share an
 * edge that is too short for both.
 */
export function drawRounded(
  path: PathWriter,
  shapes: readonly (readonly Corner[])[],
  radiusOf: (corner: Corner) => number,
): void {
  for (const corners of shapes) {
    const radii = fitted(corners, corners.map(radiusOf));
    for (const [index, corner] of corners.entries()) {
      const radius = radii[index] ?? 0;
      const [before, after] = [along(corner, corner.from, -radius), along(corner, corner.to, radius)];
      if (index === 0) path.moveTo(before);
      else path.lineTo(before);
      if (radius > 0) path.arcTo(after, radius, isOuter(corner));
    }
    path.close();
  }
}

function along({ point: [x, y] }: Corner, direction: Direction, length: number): Point {
  const [across, down] = steps[direction] ?? [0, 0];
  return [x + across * length, y + down * length];
}

function fitted(corners: readonly Corner[], wanted: readonly number[]): number[] {
  const shares = corners.map((corner, index) => {
    const next = (index + 1) % corners.length;
    const other = corners[next]?.point ?? corner.point;
    const length = Math.abs(corner.point[0] - other[0]) + Math.abs(corner.point[1] - other[1]);
    return Math.min(1, length / ((wanted[index] ?? 0) + (wanted[next] ?? 0)));
  });
  return wanted.map((radius, index) => radius * Math.min(shares[index] ?? 1, shares.at(index - 1) ?? 1));
}

/** Every edge between dark and light, by the number of the point where it starts. */
function edgesOf(side: number, cells: Uint8Array): Map<number, Direction[]> {
  const edges = new Map<number, Direction[]>();
  const add = (column: number, row: number, direction: Direction) => {
    const start = row * (side + 1) + column;
    const others = edges.get(start);
    if (others === undefined) edges.set(start, [direction]);
    else others.push(direction);
  };
  const isDark = (row: number, column: number) =>
    row >= 0 && column >= 0 && row < side && column < side && cells[row * side + column] === 1;
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      if (!isDark(row, column)) continue;
      if (!isDark(row - 1, column)) add(column, row, 0);
      if (!isDark(row, column + 1)) add(column + 1, row, 1);
      if (!isDark(row + 1, column)) add(column + 1, row + 1, 2);
      if (!isDark(row, column - 1)) add(column, row + 1, 3);
    }
  }
  return edges;
}

/** Walks from an edge until it comes back there, and removes the edges that it walks along. */
function follow(
  edges: ReadonlyMap<number, Direction[]>,
  pointsAcross: number,
  start: number,
  first: Direction,
): Corner[] {
  const corners: Corner[] = [];
  let [position, direction] = [start, first];
  for (;;) {
    const [across = 0, down = 0] = steps[direction] ?? [];
    position += across + down * pointsAcross;
    // A right turn is tried first: it stays at the same cell where two cells touch only at a corner.
    const next = takeFirst(edges.get(position), rightFirst(direction));
    if (next === undefined) throw new Error("an outline is open");
    if (next !== direction) {
      const point: Point = [position % pointsAcross, Math.floor(position / pointsAcross)];
      corners.push({ point, from: direction, to: next });
    }
    if (position === start && next === first) return corners;
    direction = next;
  }
}

function rightFirst(direction: Direction): Direction[] {
  return [(direction + 1) % 4, direction, (direction + 3) % 4] as Direction[];
}

function takeFirst(from: Direction[] | undefined, wanted: readonly Direction[]): Direction | undefined {
  const found = wanted.find((direction) => from?.includes(direction));
  if (found !== undefined) from?.splice(from.indexOf(found), 1);
  return found;
}
