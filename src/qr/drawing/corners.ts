import type { CornersDotType, CornersSquareType, Design } from "./design.ts";
import { around, hexagon, octagon } from "./dots.ts";
import { finderSide } from "./matrix.ts";
import type { PathWriter, Point } from "./path.ts";

/** A finder pattern: its middle, and the direction from there to the code's own corner (-1 or 1 on both axes). */
interface Finder {
  readonly center: Point;
  readonly outward: Point;
}

/** The sides of the rings that readers measure along every line through the middle: 1 : 1 : 3 : 1 : 1. */
const openingSide = 5;
const dotSide = 3;
/** A middle without corners is wider, so that it is about as dark as the square: tilted lines through it are shorter. */
const roundSide = 3.36;

/**
 * The radius of a sharp frame's outer corners, in modules. Strict readers find a code by the corners of its frames, and
 * miss it when these lie more than a quarter of a module from where they should be.
 */
const sharpRadius = 0.25;

/**
 * Draws the frames of the three finder patterns, for an even-odd fill. A frame with sharp corners shows its form in its
 * opening only.
 */
export function drawFrames(path: PathWriter, codeSize: number, frame: Design["cornersSquare"]): void {
  for (const { center, outward } of findersOf(codeSize)) {
    if (frame.hasSharpCorners && frame.type !== "SQUARE")
      boxWithRadii(path, center, finderSide, () => sharpRadius);
    else frames[frame.type](path, center, finderSide, outward);
    (frame.hasSharpCorners ? openings : frames)[frame.type](path, center, openingSide, outward);
  }
}

/**
 * Draws the middles of the three finder patterns. Within a frame that is not square, their tips are blunt: readers also
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

/**
 * Half the length of the straight part of a ring's sides, in modules. Readers lay lines along it, and miss a mere
 * circle.
 */
const flatness = 0.6;

/**
 * How much is cut off a ring's corner, so that the ring is equally thick there. `outer` is what is cut off the outer
 * corner.
 */
function chamferOf(side: number, outer: number): number {
  return outer - ((finderSide - side) / 2) * (2 - Math.SQRT2);
}

const frames: Readonly<Record<CornersSquareType, DrawFrame>> = {
  SQUARE: (path, center, side) => boxWithRadii(path, center, side, () => 0),
  DOT: (path, center, side) => boxWithRadii(path, center, side, () => side / 2 - flatness),
  // The inner corner's radius is also one module less, so that the frame is equally thick all around.
  EXTRA_ROUNDED: (path, center, side) => boxWithRadii(path, center, side, () => side / 2 - 1.5),
  // A regular hexagon would have slanting sides above and below, which readers also miss.
  HEXAGON: (path, center, side, outward) =>
    chamfered(path, center, side, (corner) => (isSame(corner, outward, -1) ? chamferOf(side, 1.6) : 0)),
  OCTAGON: (path, center, side) => chamfered(path, center, side, () => chamferOf(side, 1.75)),
  LEAF: (path, center, side, outward) =>
    boxWithRadii(path, center, side, (corner) => (isSame(corner, outward, -1) ? side / 2 - 0.75 : 0)),
};

/** How round an opening may be, in modules, before readers take the frame's thick corners for the middle. */
const openingRadius = 1.1;
const openingChamfer = 0.6;

/** The openings of frames with sharp corners. */
const openings: Readonly<Record<CornersSquareType, DrawFrame>> = {
  SQUARE: frames.SQUARE,
  DOT: (path, center, side) => boxWithRadii(path, center, side, () => openingRadius),
  EXTRA_ROUNDED: (path, center, side) => boxWithRadii(path, center, side, () => openingRadius * 0.7),
  HEXAGON: (path, center, side, outward) =>
    chamfered(path, center, side, (corner) => (isSame(corner, outward, -1) ? openingChamfer : 0)),
  OCTAGON: (path, center, side) => chamfered(path, center, side, () => openingChamfer),
  LEAF: (path, center, side, outward) =>
    boxWithRadii(path, center, side, (corner) => (isSame(corner, outward, -1) ? openingRadius : 0)),
};

const middles: Readonly<Record<CornersDotType, DrawMiddle>> = {
  SQUARE: (path, center, _, bluntness) => boxWithRadii(path, center, dotSide, () => bluntness),
  DOT: (path, center) => path.circle(center, roundSide / 2),
  HEXAGON: (path, center) => path.polygon(around(center, hexagon, dotSide * 1.15)),
  OCTAGON: (path, center) => path.polygon(around(center, octagon, roundSide)),
  TEARDROP: (path, center, outward, bluntness) =>
    boxWithRadii(path, center, roundSide, (corner) =>
      isSame(corner, outward, 1) ? bluntness : roundSide / 2,
    ),
  STAR: (path, center) => path.polygon(around(center, star, dotSide)),
};

/** A square with the given corners cut off. `chamferOf` gives the cut in modules; 0 keeps a corner. */
function chamfered(
  path: PathWriter,
  [x, y]: Point,
  side: number,
  chamferOf: (corner: Point) => number,
): void {
  const points = clockwise.flatMap(({ corner, run }): Point[] => {
    const chamfer = chamferOf(corner);
    const [cornerX, cornerY] = [x + (corner[0] * side) / 2, y + (corner[1] * side) / 2];
    // After the corner, the edge runs on to the right of its former direction.
    const after: Point = [cornerX - run[1] * chamfer, cornerY + run[0] * chamfer];
    return chamfer === 0 ? [after] : [[cornerX - run[0] * chamfer, cornerY - run[1] * chamfer], after];
  });
  path.polygon(points);
}

/** The star is thick enough that any line through its middle is about as long as one through the square. */
const star: readonly Point[] = Array.from({ length: 10 }, (_, index) => {
  const [radius, angle] = [index % 2 === 0 ? 0.61 : 0.47, (index * Math.PI) / 5];
  return [Math.sin(angle) * radius, -Math.cos(angle) * radius];
});

/** Whether a corner points along `outward`, or for a leaf (-1) is one of the two corners beside it. */
function isSame([x, y]: Point, [across, down]: Point, sign: 1 | -1): boolean {
  return sign === 1 ? x === across && y === down : x * across * y * down === -1;
}

/** A square whose corners have radii of their own. A corner is named by its direction from the middle. */
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
    // After the corner, the edge runs on to the right of its former direction.
    if (radius > 0) path.arcTo([cornerX - run[1] * radius, cornerY + run[0] * radius], radius, true);
  }
  path.close();
}

/** The corners of a square, each with the direction in which the outline runs towards it. */
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
