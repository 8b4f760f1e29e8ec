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

/** Draws the middles of the three finder patterns. */
export function drawMiddles(path: PathWriter, codeSize: number, type: CornersDotType): void {
  for (const { center, outward } of findersOf(codeSize)) middles[type](path, center, dotSide, outward);
}

type DrawCorner = (path: PathWriter, center: Point, side: number, outward: Point) => void;

const square: DrawCorner = (path, center, side) => boxWithRadii(path, center, side, () => 0);
const circle: DrawCorner = (path, center, side) => path.circle(center, side / 2);
const sixSided: DrawCorner = (path, center, side) => path.polygon(around(center, hexagon, side));
const eightSided: DrawCorner = (path, center, side) => path.polygon(around(center, octagon, side));

const frames: Readonly<Record<CornersSquareType, DrawCorner>> = {
  SQUARE: square,
  DOT: circle,
  // The inner corner's radius is a module less, so that the frame is equally thick all around.
  EXTRA_ROUNDED: (path, center, side) => boxWithRadii(path, center, side, () => side / 2 - 1),
  HEXAGON: sixSided,
  OCTAGON: eightSided,
  LEAF: (path, center, side, outward) =>
    boxWithRadii(path, center, side, (corner) => (isSame(corner, outward, -1) ? side / 2 - 0.5 : 0)),
};

const middles: Readonly<Record<CornersDotType, DrawCorner>> = {
  SQUARE: square,
  DOT: circle,
  HEXAGON: sixSided,
  OCTAGON: eightSided,
  TEARDROP: (path, center, side, outward) =>
    boxWithRadii(path, center, side, (corner) => (isSame(corner, outward, 1) ? 0 : side / 2)),
  STAR: (path, center, side) => path.polygon(around(center, star, side)),
};

/** Fat enough that a line through its middle is about as long as through the square, whichever way it runs. */
const star: readonly Point[] = Array.from({ length: 10 }, (_, index) => {
  const [radius, angle] = [index % 2 === 0 ? 0.66 : 0.42, (index * Math.PI) / 5];
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
