import type { CornersDotType, CornersSquareType } from "./design.ts";
import { around, hexagon, octagon } from "./dots.ts";
import { finderSide } from "./matrix.ts";
import type { PathWriter, Point } from "./path.ts";

/** A finder pattern: its middle, and which way the code's own corner lies from there (-1 or 1 both ways). */
interface Finder {
  readonly center: Point;
  readonly outward: Point;
}

/** Sides of the rings that readers measure along every line through the middle: 1 : 1 : 3 : 1 : 1. */
const frameSides = [finderSide, 5];
const dotSide = 3;

/** Draws the frames of the three finder patterns, to be filled even-odd. */
export function drawFrames(path: PathWriter, codeSize: number, type: CornersSquareType): void {
  for (const { center, outward } of findersOf(codeSize)) {
    for (const side of frameSides) frames[type](path, center, side, outward);
  }
}

/**
 * Draws the middles of the three finder patterns. Within a frame that is not square their tips are blunt: readers also
 * measure diagonals, where a tip would come too close to the frame.
 */
export function drawMiddles(
  path: PathWriter,
  codeSize: number,
  type: CornersDotType,
  frame: CornersSquareType,
): void {
  const bluntness = frame === "SQUARE" ? 0 : 0.6;
  for (const { center, outward } of findersOf(codeSize)) middles[type](path, center, outward, bluntness);
}

type DrawFrame = (path: PathWriter, center: Point, side: number, outward: Point) => void;
type DrawMiddle = (path: PathWriter, center: Point, outward: Point, bluntness: number) => void;

/** Half the straight part of a ring's sides, in modules: readers lay lines along them, and stray on a mere circle. */
const flatness = 0.4;

/** The radius of a hexagon's soft tips, of its width. */
const softness = 0.52;

const frames: Readonly<Record<CornersSquareType, DrawFrame>> = {
  SQUARE: (path, center, side) => boxWithRadii(path, center, side, () => 0),
  DOT: (path, center, side) => boxWithRadii(path, center, side, () => side / 2 - flatness),
  // The inner corner's radius is a module less too, so that the frame is equally thick all around.
  EXTRA_ROUNDED: (path, center, side) => boxWithRadii(path, center, side, () => side / 2 - 1.5),
  HEXAGON: softHexagon,
  OCTAGON: (path, center, side) => path.polygon(chamfered(center, side, side * 0.375 - 0.875)),
  LEAF: (path, center, side, outward) =>
    boxWithRadii(path, center, side, (corner) => (isSame(corner, outward, -1) ? side / 2 - 0.5 : 0)),
};

const middles: Readonly<Record<CornersDotType, DrawMiddle>> = {
  SQUARE: (path, center, _, bluntness) => boxWithRadii(path, center, dotSide, () => bluntness),
  DOT: (path, center) => path.circle(center, dotSide / 2),
  HEXAGON: (path, center) => path.polygon(around(center, hexagon, dotSide * 1.05)),
  OCTAGON: (path, center) => path.polygon(around(center, octagon, dotSide)),
  TEARDROP: (path, center, outward, bluntness) =>
    boxWithRadii(path, center, dotSide, (corner) => (isSame(corner, outward, 1) ? bluntness : dotSide / 2)),
  STAR: (path, center) => path.polygon(around(center, star, dotSide)),
};

/**
 * A regular hexagon, with its upper and lower tip rounded: there, readers measure where the code ends, and slanting edges
 * mislead them.
 */
function softHexagon(path: PathWriter, [x, y]: Point, side: number): void {
  const radius = side * softness;
  const [half, shoulder] = [side / 2, side / Math.sqrt(12)];
  // Where the arcs begin and end: a tangent's length from the tip, along edges that fall by 30 degrees.
  const length = radius / Math.sqrt(3);
  const [across, down] = [(length * Math.sqrt(3)) / 2, shoulder * 2 - length / 2];
  path.moveTo([x - across, y - down]);
  path.arcTo([x + across, y - down], radius, true);
  path.lineTo([x + half, y - shoulder]);
  path.lineTo([x + half, y + shoulder]);
  path.lineTo([x + across, y + down]);
  path.arcTo([x - across, y + down], radius, true);
  path.lineTo([x - half, y + shoulder]);
  path.lineTo([x - half, y - shoulder]);
  path.close();
}

/** A square without its corners; a shorter cut than a regular octagon's leaves the middle more room. */
function chamfered([x, y]: Point, side: number, chamfer: number): Point[] {
  const [far, near] = [side / 2, side / 2 - chamfer];
  const corners: readonly Point[] = [
    [-near, -far],
    [near, -far],
    [far, -near],
    [far, near],
    [near, far],
    [-near, far],
    [-far, near],
    [-far, -near],
  ];
  return corners.map(([across, down]) => [x + across, y + down]);
}

/** Fat enough that a line through its middle is about as long as through the square, whichever way it runs. */
const star: readonly Point[] = Array.from({ length: 10 }, (_, index) => {
  const [radius, angle] = [index % 2 === 0 ? 0.63 : 0.43, (index * Math.PI) / 5];
  return [Math.sin(angle) * radius, -Math.cos(angle) * radius];
});

/** A corner that points along `outward`, or for a leaf (-1) either corner beside it. */
function isSame([x, y]: Point, [across, down]: Point, sign: 1 | -1): boolean {
  return sign === 1 ? x === across && y === down : x * across * y * down === -1;
}

/** A square whose corners, named by their direction from its middle, have radii of their own. */
function boxWithRadii(
  path: PathWriter,
  [x, y]: Point,
  side: number,
  radiusOf: (corner: Point) => number,
): void {
  for (const [index, { corner, run }] of clockwise.entries()) {
    const radius = radiusOf(corner);
    const [cornerX, cornerY] = [x + (corner[0] * side) / 2, y + (corner[1] * side) / 2];
    const before: Point = [cornerX - run[0] * radius, cornerY - run[1] * radius];
    if (index === 0) path.moveTo(before);
    else path.lineTo(before);
    // After the corner, the edge runs a right turn further.
    if (radius > 0) path.arcTo([cornerX - run[1] * radius, cornerY + run[0] * radius], radius, true);
  }
  path.close();
}

/** The corners of a square, each with the way the outline runs towards it. */
const clockwise: readonly { readonly corner: Point; readonly run: Point }[] = [
  { corner: [1, -1], run: [1, 0] },
  { corner: [1, 1], run: [0, 1] },
  { corner: [-1, 1], run: [-1, 0] },
  { corner: [-1, -1], run: [0, -1] },
];

function findersOf(codeSize: number): readonly Finder[] {
  const [near, far] = [finderSide / 2, codeSize - finderSide / 2];
  return [
    { center: [near, near], outward: [-1, -1] },
    { center: [far, near], outward: [1, -1] },
    { center: [near, far], outward: [-1, 1] },
  ];
}
