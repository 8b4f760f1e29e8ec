import { decoysOf } from "../drawing/decoys.ts";
import type { CentralImage, Design } from "../drawing/design.ts";
import { layOutCode } from "../drawing/layout.ts";
import { alignmentCenters, type Matrix } from "../drawing/matrix.ts";
import { worstContrast } from "./causes.ts";
import {
  backgroundLumas,
  darker,
  larger,
  type Step,
  smaller,
  withImageMargin,
  withImageSize,
  withoutDotsBehind,
  withSharpCorners,
  withSquareMiddles,
  withSquareShape,
  withWhiteBackground,
} from "./steps.ts";

interface Rule {
  /** What mends a design that breaks the rule. Undefined when nothing in a design does. */
  readonly step?: Step;
  /** How far a design is inside the rule: 1 is a plain code, 0 the limit. Less breaks the rule. */
  readonly margin: number;
}

/*
 * What machine vision asks of a code. OpenCV and quirc are too large for the service, so these rules stand for them;
 * `npm run gallery -- --readers` measures the rules with those readers.
 */

/** How many pixels a module has at least. */
export const moduleMin = 4;

/**
 * How large a picture is at most, and how wide its margins are together, as parts of the code's side. Readers disagree
 * on what they see of a picture, and its code has less correction left. Of 1,900 random designs without a picture that
 * kept all other rules no reader missed one. Of 900 with larger pictures they missed nine, of 640 with smaller ones one,
 * whose dots are larger now.
 */
const imageSizeMax = 0.2;
const imageMarginMax = 0.05;
const imageMarginAsked = 0.04;

/**
 * How many modules a picture has at least where the code has an alignment pattern behind it. ZBar takes a picture as
 * large as the pattern, 5 modules, for the pattern itself: of 180 plain codes with pictures of 4 to 5.4 modules it missed
 * 30, of 220 with larger ones none.
 */
const imageModulesMin = 6;
const imageModulesAsked = 6.5;

/** How light the background is at least. On darker ones OpenCV misses a third of the codes. */
const backgroundMin = 0.8;

/**
 * How much darker than the background every color is at least. Of 30 views of plain codes in one grey, distorted in ten
 * ways, these were read:
 *
 *     grey  on   OpenCV  quirc  ZBar  ZXing Java  ZXing  jsQR
 *     0     1        24     27    27          30     30    28
 *     0.1   1        24     26    27          27     27    25
 *     0.2   1        24     26    27          27     27    25
 *     0.3   1        24     18    27          24     27    23
 *     0.4   1        24     18    27          21     27    23
 *     0.5   1        24     18    27          21     27    21
 *     0     0.8      24     26    27          27     27    25
 *     0.2   0.9      24     24    27          24     27    25
 *
 * With only the dots, the frames or the middles at 0.4, quirc read 21, ZXing Java 21, and quirc 24.
 */
const contrastMin = 0.8;

/**
 * How long the shorter side is at most, in pixels. OpenCV looks at longer ones at their own size first, and takes noise
 * for patterns: of plain codes with sides of 512, 900 and 1,180 it missed 0 of 400, 0 of 200 and 4 of 200.
 */
const sideForA = 1000;

/**
 * How many times as long the longer side is at most. Of the random designs of two seeds that no other rule explains,
 * OpenCV missed two, 3.2 and 2.5 times as long; one of the first seed's 19 that are longer than 2.4 times.
 */
const sidesRatioMax = 2.4;

/**
 * By how much the finder patterns stand out at least, as `finderClearance` measures it, and where nothing is left to
 * gain. Of 3,000 random designs that kept all other rules OpenCV missed 31: 27 had less, the others had a picture. Of
 * 365 that it read 6 had less.
 */
const clearanceMin = 0.005;
const clearanceWhole = 0.1;

/** What the rules look at beside the design. */
export interface Drawing {
  readonly matrix: Matrix;
  /** What readers find that search the painted code. Undefined before they do. */
  readonly found?: FoundPatterns;
}

export interface FoundPatterns {
  readonly finderClearance: number;
  /** Whether ZXing ends its search with the three finder patterns. */
  readonly areFindersMet: boolean;
}

/** The least margin that machine vision has, from -1 to 1, and the changes that bring it to 0 or more. */
export function machineVisionOf(drawing: Drawing, design: Design): { margin: number; steps: Step[] } {
  const rules = rulesOf(drawing, design);
  const broken = rules.filter(({ margin }) => margin < 0);
  return {
    margin: Math.max(-1, Math.min(1, ...rules.map(({ margin }) => margin))),
    steps: [...new Set(broken.flatMap(({ step }) => step ?? []))],
  };
}

function rulesOf({ matrix, found }: Drawing, design: Design): Rule[] {
  const { shape, cornersSquare, cornersDot, centralImage } = design;
  const { size } = matrix;
  const [shorter, longer] = [Math.min(design.width, design.height), Math.max(design.width, design.height)];
  const isFrameFound = cornersSquare.type === "SQUARE" || cornersSquare.hasSharpCorners;
  const rules: Rule[] = [
    { step: withSharpCorners, margin: isFrameFound ? 1 : -1 },
    { step: withSquareShape, margin: shape === "SQUARE" ? 1 : -1 },
    // The points of hexagons and stars come too close to the frame: jsQR and ZBar read less than 0.9 of plain codes.
    { step: withSquareMiddles, margin: ["HEXAGON", "STAR"].includes(cornersDot.type) ? -1 : 1 },
    // Hardly any code but one of hundreds of characters has decoys with every mask.
    { margin: decoysOf(matrix) === 0 ? 1 : -1 },
    { margin: found === undefined ? 1 : (found.finderClearance - clearanceMin) / clearanceWhole },
    { margin: found?.areFindersMet === false ? -1 : 1 },
    { step: smaller(shorter), margin: sidesRatioMax - longer / shorter },
    { step: smaller(sideForA), margin: Math.min(1, (sideForA - shorter) / 100) },
    {
      step: withWhiteBackground,
      margin: (Math.min(...backgroundLumas(design)) - backgroundMin) / (1 - backgroundMin),
    },
    { step: larger(size, moduleMin), margin: (layOutCode(size, design).scale - moduleMin) / moduleMin },
    {
      step: darker(design, contrastMin),
      margin: (worstContrast(design).difference - contrastMin) / (1 - contrastMin),
    },
  ];
  if (centralImage !== undefined)
    rules.push(...imageRules(centralImage, size, layOutCode(size, design).scale));
  return rules;
}

function imageRules(
  { size: share, margin, hideBackgroundDots }: CentralImage,
  size: number,
  scale: number,
): Rule[] {
  const middle = (size - 1) / 2;
  const hidesAlignment = alignmentCenters(size).some(
    ({ row, column }) => row === middle && column === middle,
  );
  const side = size * scale;
  return [
    { step: withImageSize(imageSizeMax), margin: (imageSizeMax - share) / imageSizeMax },
    {
      step: withImageMargin(Math.floor((imageMarginAsked / 2) * side)),
      margin: (imageMarginMax - (2 * margin) / side) / imageMarginMax,
    },
    {
      step: withImageSize(Math.ceil((imageModulesAsked / size) * 100) / 100),
      margin: hidesAlignment && share * size < imageModulesMin ? -1 : 1,
    },
    { step: withoutDotsBehind, margin: hideBackgroundDots ? 1 : -1 },
  ];
}
