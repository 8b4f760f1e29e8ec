import { black, type Color, over, white } from "../../lib/color.ts";
import { codeOf } from "../drawing/code.ts";
import { hexOf, lumaOf } from "../drawing/color.ts";
import { colorsOf, type Design, defaultDesign, type Fill } from "../drawing/design.ts";
import { layOutCode } from "../drawing/layout.ts";
import { localDifference } from "../drawing/threshold.ts";

/** Why a code cannot be read. */
export interface Cause {
  readonly cause: "CONTRAST" | "COVERED_AREA" | "MODULE_SIZE" | "QUIET_ZONE" | "SHAPE";
  /** What is wrong and what to do, for the person who designs. */
  readonly message: string;
}

/**
 * The contrast that dark and light must have, as a part of 1. It leaves a reserve for bad light: at 0.31, ZBar misses
 * some codes.
 */
export const contrastMin = 0.35;
const moduleMin = 2;

/**
 * Whether every color is enough darker than the background, and no middle of a corner looks light within its frame. Not
 * every reader needs either, so these are checked beside reading.
 */
export function hasContrast(design: Design): boolean {
  return worstContrast(design).difference >= contrastMin && !hasPaleMiddles(design);
}

/**
 * Finds out why a design is not read, by changing one thing at a time. A change that makes it readable shows a cause.
 * When no single change does, everything that looks wrong by itself is a cause. Never empty.
 */
export async function causesOf(
  content: string,
  design: Design,
  isRead: (design: Design) => Promise<boolean>,
): Promise<Cause[]> {
  const cures = await curesOf(content, design);
  const proven: Cause[] = [];
  for (const { cause, cured } of cures) {
    if (hasContrast(cured) && (await isRead(cured))) proven.push(cause);
  }
  if (proven.length > 0) return proven;
  const suspects = cures.filter(({ isSuspect }) => isSuspect).map(({ cause }) => cause);
  return suspects.length > 0 ? suspects : cures.map(({ cause }) => cause);
}

interface Cure {
  readonly cause: Cause;
  /** The design without what may be wrong. */
  readonly cured: Design;
  /** Whether it looks wrong even without a try. */
  readonly isSuspect: boolean;
}

async function curesOf(content: string, design: Design): Promise<Cure[]> {
  const { scale } = layOutCode((await codeOf(content, design)).size, design);
  const larger = Math.ceil(8 / scale);
  const { centralImage, ...uncovered } = design;
  const cures: Cure[] = [
    contrastCure(design),
    {
      cause: {
        cause: "MODULE_SIZE",
        message: `The image is too small for an address this long: a dot has ${scale.toFixed(1)} pixels. Make the image larger or the address shorter.`,
      },
      cured: { ...design, width: side(design.width * larger), height: side(design.height * larger) },
      isSuspect: scale < moduleMin,
    },
  ];
  if (centralImage !== undefined)
    cures.push({
      cause: {
        cause: "COVERED_AREA",
        message: `The image in the middle covers too much of the code: ${Math.round(centralImage.size * 100)} % of its side${centralImage.margin > 0 ? ` and a margin of ${centralImage.margin} pixels` : ""}. Make it smaller, choose a lighter one, or raise the error correction to H.`,
      },
      cured: { ...uncovered, centralImage: undefined },
      isSuspect: centralImage.size > 0.4,
    });
  if (design.shape === "CIRCLE")
    cures.push({
      cause: {
        cause: "QUIET_ZONE",
        message: "The dots around the code come too close to it. Choose the square shape.",
      },
      cured: { ...design, shape: "SQUARE" },
      isSuspect: false,
    });
  cures.push({
    cause: {
      cause: "SHAPE",
      message: "The dots or corners are too far from squares to be told apart. Choose other forms for them.",
    },
    cured: withPlainShapes(design),
    isSuspect: false,
  });
  return cures;
}

function withPlainShapes(design: Design): Design {
  return {
    ...design,
    dots: { ...design.dots, type: "SQUARE" },
    cornersSquare: { ...design.cornersSquare, type: "SQUARE" },
    cornersDot: { ...design.cornersDot, type: "SQUARE" },
  };
}

function contrastCure(design: Design): Cure {
  const { dots, cornersSquare, cornersDot } = defaultDesign;
  const cured: Design = {
    ...design,
    dots: { ...design.dots, paint: dots.paint },
    cornersSquare: { ...design.cornersSquare, paint: cornersSquare.paint },
    cornersDot: { ...design.cornersDot, paint: cornersDot.paint },
    background: defaultDesign.background,
  };
  const worst = worstContrast(design);
  const [front, back] = [hexOf(worst.front), hexOf(worst.back)];
  const message =
    worst.difference < 0
      ? `${worst.part} (${front}) are lighter than the background (${back}), and many readers see only dark on light. Swap the colors.`
      : worst.difference >= contrastMin && hasPaleMiddles(design)
        ? "The middles of the corners are so much lighter than their frames that readers take them for background. Make the middles darker, or the frames lighter."
        : `${worst.part} (${front}) and the background (${back}) are too much alike. Make one much darker, or the other much lighter.`;
  return { cause: { cause: "CONTRAST", message }, cured, isSuspect: !hasContrast(design) };
}

/**
 * Whether the middle of a finder pattern may look light. Readers such as ZBar call light what is lighter than the mean
 * around it. When they look at an area as large as a finder pattern, its middle must be darker than the mean of the
 * whole: 24 modules of frame, 16 of background and 9 of middle.
 */
function hasPaleMiddles({ cornersSquare, cornersDot, background }: Design): boolean {
  return colorsOf(background).some((color) => {
    const back = over(color, white);
    const lumas = ({ paint }: { readonly paint: Fill }) =>
      colorsOf(paint).map((front) => lumaOf(over(front, back)));
    const [frame, middle] = [Math.min(...lumas(cornersSquare)), Math.max(...lumas(cornersDot))];
    const mean = (24 * frame + 16 * lumaOf(back) + 9 * middle) / 49;
    return middle + localDifference > mean;
  });
}

/** The two colors that are hardest to tell apart, as they look on white paper. */
export function worstContrast({ dots, cornersSquare, cornersDot, background }: Design) {
  const named = { "The dots": dots, "The corners": cornersSquare, "The middles of the corners": cornersDot };
  const backs = colorsOf(background).map((color) => over(color, white));
  let worst: { part: string; front: Color; back: Color; difference: number } = {
    part: "The dots",
    front: black,
    back: white,
    difference: 1,
  };
  for (const [part, { paint }] of Object.entries(named)) {
    for (const back of backs) {
      for (const color of colorsOf(paint)) {
        const front = over(color, back);
        const difference = lumaOf(back) - lumaOf(front);
        if (difference < worst.difference) worst = { part, front, back, difference };
      }
    }
  }
  return worst;
}

function side(pixels: number): number {
  return Math.min(4096, pixels);
}
