import { decoysOf } from "../drawing/decoys.ts";
import type { Design } from "../drawing/design.ts";
import { layOutCode } from "../drawing/layout.ts";
import type { Matrix } from "../drawing/matrix.ts";
import { worstContrast } from "./causes.ts";
import {
  backgroundLumas,
  darker,
  larger,
  type Step,
  smaller,
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
const imageSizeMax = 0.3;

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
 * gain. Of 250 random designs that kept all other rules OpenCV missed 8: 5 had less, of 80 that it read none had; two
 * were larger than `sideForA`.
 */
const clearanceMin = 0.005;
const clearanceWhole = 0.1;

/** What the rules look at beside the design. */
export interface Drawing {
  readonly matrix: Matrix;
  readonly finderClearance: number;
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

function rulesOf({ matrix, finderClearance }: Drawing, design: Design): Rule[] {
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
    { margin: (finderClearance - clearanceMin) / clearanceWhole },
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
  if (centralImage !== undefined) {
    rules.push({
      step: withImageSize(imageSizeMax),
      margin: (imageSizeMax - centralImage.size) / imageSizeMax,
    });
    rules.push({ step: withoutDotsBehind, margin: centralImage.hideBackgroundDots ? 1 : -1 });
  }
  return rules;
}
