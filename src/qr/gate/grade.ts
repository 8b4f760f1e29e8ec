import { type Color, over, white } from "../../lib/color.ts";
import { hexOf, lumaOf } from "../drawing/color.ts";
import { decoysOf } from "../drawing/decoys.ts";
import { colorsOf, type Design, type Fill } from "../drawing/design.ts";
import { layOutCode, modulesAcross, sideMax } from "../drawing/layout.ts";
import type { Matrix } from "../drawing/matrix.ts";
import { hasContrast, worstContrast } from "./causes.ts";

/** A: every class of readers reads the code. B: phones do. C: refused. */
export type Grade = "A" | "B" | "C";

export const readerClasses = ["PHONE", "WEB", "MACHINE_VISION"] as const;
/** Phones' cameras and apps, readers in web pages, and the strict readers of machines. */
export type ReaderClass = (typeof readerClasses)[number];

/** A new value for one field of a design, by the contract's JSON names. */
export interface Change {
  readonly field: string;
  readonly value: string;
  /** What the change does, for the person who designs. */
  readonly message: string;
}

export interface Step {
  readonly change: Change;
  /** Whether the step changes a design. Without it, every design. */
  readonly isNeeded?: (design: Design) => boolean;
  readonly apply: (design: Design) => Design;
}

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

const moduleMin = 4;
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

/** The contrast that makes a design readable that has too little. */
const contrastToRead = 0.5;

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

const withSharpCorners: Step = {
  change: {
    field: "cornersSquareOptions.sharpCorners",
    value: "true",
    message: "Give the corners' frames sharp outer corners; their openings keep the form.",
  },
  apply: (design) => ({ ...design, cornersSquare: { ...design.cornersSquare, hasSharpCorners: true } }),
};

const withSquareShape: Step = {
  change: { field: "shape", value: "SHAPE_SQUARE", message: "Choose the square shape." },
  apply: (design) => ({ ...design, shape: "SQUARE" }),
};

/** It helps readers in web pages as well: jsQR misses other middles at some sizes. */
const withSquareMiddles: Step = {
  change: {
    field: "cornersDotOptions.type",
    value: "CORNERS_DOT_TYPE_SQUARE",
    message: "Make the middles of the corners squares.",
  },
  isNeeded: ({ cornersDot }) => cornersDot.type !== "SQUARE",
  apply: (design) => ({ ...design, cornersDot: { ...design.cornersDot, type: "SQUARE" } }),
};

const withWhiteBackground: Step = {
  change: {
    field: "backgroundOptions.themeColor.colors",
    value: "#ffffff",
    message: "Make the background white.",
  },
  apply: (design) => ({ ...design, background: { type: "SOLID", color: white } }),
};

function backgroundLumas({ background }: Design): number[] {
  return colorsOf(background).map((color) => lumaOf(over(color, white)));
}

const withoutDotsBehind: Step = {
  change: {
    field: "hideBackgroundDots",
    value: "true",
    message: "Leave out the dots behind the image in the middle.",
  },
  apply: (design) => withImage(design, { hideBackgroundDots: true }),
};

function withImageSize(size: number): Step {
  return {
    change: {
      field: "centralImageSize",
      value: String(size),
      message: `Make the image in the middle smaller: ${Math.round(size * 100)} % of the code's side.`,
    },
    apply: (design) => withImage(design, { size }),
  };
}

function withImage(design: Design, changed: Partial<NonNullable<Design["centralImage"]>>): Design {
  const { centralImage } = design;
  return centralImage === undefined ? design : { ...design, centralImage: { ...centralImage, ...changed } };
}

/** Makes both sides long enough for modules of `scale` pixels in a square code. */
function larger(size: number, scale: number): Step {
  const side = Math.min(sideMax, modulesAcross(size, "SQUARE") * scale);
  return {
    change: {
      field: "width, height",
      value: String(side),
      message: `Make the image larger: ${side} pixels a side.`,
    },
    apply: (design) => ({
      ...design,
      width: Math.max(design.width, side),
      height: Math.max(design.height, side),
    }),
  };
}

/** Makes no side longer than `side`. */
function smaller(side: number): Step {
  return {
    change: {
      field: "width, height",
      value: String(side),
      message: `Make no side of the image longer than ${side} pixels.`,
    },
    apply: (design) => ({
      ...design,
      width: Math.min(design.width, side),
      height: Math.min(design.height, side),
    }),
  };
}

/** Single changes that may make a design readable, the smallest first. Only what may be wrong is changed. */
export function stepsTowardsReading(size: number, design: Design): Step[] {
  const steps: Step[] = [];
  if (!hasContrast(design)) steps.push(darker(design, contrastToRead));
  if (layOutCode(size, design).scale < moduleMin) steps.push(larger(size, moduleMin));
  const { centralImage, shape } = design;
  const sizes = [0.4, 0.3, 0.2].filter((one) => centralImage !== undefined && one < centralImage.size);
  steps.push(...sizes.map(withImageSize));
  if (shape === "CIRCLE") steps.push(withSquareShape);
  if (design.dots.type !== "SQUARE") steps.push(withSquareDots);
  return steps;
}

const withSquareDots: Step = {
  change: { field: "dotsOptions.type", value: "DOTS_TYPE_SQUARE", message: "Make the dots squares." },
  isNeeded: ({ dots }) => dots.type !== "SQUARE",
  apply: (design) => ({ ...design, dots: { ...design.dots, type: "SQUARE" } }),
};

/** What helps when a design keeps all rules and some reader still misses it, the smallest change first. */
export const plainerSteps: readonly Step[] = [withSquareMiddles, withSquareDots];

const parts = {
  dotsOptions: "dots",
  cornersSquareOptions: "cornersSquare",
  cornersDotOptions: "cornersDot",
} as const;

/** Makes the colors of the part that is least dark darker, or the background white when no color is dark enough on it. */
function darker(design: Design, difference: number): Step {
  const lumaMax = Math.min(...backgroundLumas(design)) - difference;
  if (lumaMax < 0.1) return withWhiteBackground;
  const changed = Object.entries(parts).filter(
    ([, part]) => darkenedTo(lumaMax, design[part].paint) !== design[part].paint,
  );
  const value = changed
    .map(([, part]) => colorsOf(darkenedTo(lumaMax, design[part].paint)).map(hexOf).join(" "))
    .join(", ");
  return {
    change: {
      field: changed.map(([name]) => `${name}.themeColor.colors`).join(", "),
      value,
      message: `Make these colors darker: ${value}.`,
    },
    apply: (other) => ({
      ...other,
      dots: { ...other.dots, paint: darkenedTo(lumaMax, other.dots.paint) },
      cornersSquare: { ...other.cornersSquare, paint: darkenedTo(lumaMax, other.cornersSquare.paint) },
      cornersDot: { ...other.cornersDot, paint: darkenedTo(lumaMax, other.cornersDot.paint) },
    }),
  };
}

/** A fill whose every color is opaque and at most as light as `lumaMax`; the same fill when it is already. */
function darkenedTo(lumaMax: number, paint: Fill): Fill {
  const darkened = (color: Color): Color => {
    const seen = over(color, white);
    // Rounded down, so that rounding never makes it too light.
    const share = lumaMax / lumaOf(seen);
    const less = (part: number) => Math.floor(part * share);
    return share >= 1
      ? color
      : { red: less(seen.red), green: less(seen.green), blue: less(seen.blue), alpha: 1 };
  };
  if (colorsOf(paint).every((color) => lumaOf(over(color, white)) <= lumaMax)) return paint;
  if (paint.type === "SOLID") return { type: "SOLID", color: darkened(paint.color) };
  return { ...paint, stops: paint.stops.map(({ offset, color }) => ({ offset, color: darkened(color) })) };
}
