import { type Color, over, white } from "../../lib/color.ts";
import { hexOf, lumaOf } from "../drawing/color.ts";
import { colorsOf, type Design, type Fill } from "../drawing/design.ts";
import { modulesAcross, sideMax } from "../drawing/layout.ts";

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

export const withSharpCorners: Step = {
  change: {
    field: "cornersSquareOptions.sharpCorners",
    value: "true",
    message: "Give the corners' frames sharp outer corners; their openings keep the form.",
  },
  apply: (design) => ({ ...design, cornersSquare: { ...design.cornersSquare, hasSharpCorners: true } }),
};

export const withSquareShape: Step = {
  change: { field: "shape", value: "SHAPE_SQUARE", message: "Choose the square shape." },
  apply: (design) => ({ ...design, shape: "SQUARE" }),
};

/** It helps readers in web pages as well: jsQR misses other middles at some sizes. */
export const withSquareMiddles: Step = {
  change: {
    field: "cornersDotOptions.type",
    value: "CORNERS_DOT_TYPE_SQUARE",
    message: "Make the middles of the corners squares.",
  },
  isNeeded: ({ cornersDot }) => cornersDot.type !== "SQUARE",
  apply: (design) => ({ ...design, cornersDot: { ...design.cornersDot, type: "SQUARE" } }),
};

export const withWhiteBackground: Step = {
  change: {
    field: "backgroundOptions.themeColor.colors",
    value: "#ffffff",
    message: "Make the background white.",
  },
  apply: (design) => ({ ...design, background: { type: "SOLID", color: white } }),
};

export const withSquareDots: Step = {
  change: { field: "dotsOptions.type", value: "DOTS_TYPE_SQUARE", message: "Make the dots squares." },
  isNeeded: ({ dots }) => dots.type !== "SQUARE",
  apply: (design) => ({ ...design, dots: { ...design.dots, type: "SQUARE" } }),
};

export const withoutDotsBehind: Step = {
  change: {
    field: "hideBackgroundDots",
    value: "true",
    message: "Leave out the dots behind the image in the middle.",
  },
  apply: (design) => withImage(design, { hideBackgroundDots: true }),
};

export function withImageSize(size: number): Step {
  return {
    change: {
      field: "centralImageSize",
      value: String(size),
      message: `Make the image in the middle ${Math.round(size * 100)} % as wide as the code.`,
    },
    apply: (design) => withImage(design, { size }),
  };
}

export function withImageMargin(margin: number): Step {
  return {
    change: {
      field: "centralImageMargin",
      value: String(margin),
      message: `Make the margin of the image in the middle narrower: ${margin} pixels.`,
    },
    apply: (design) => withImage(design, { margin }),
  };
}

function withImage(design: Design, changed: Partial<NonNullable<Design["centralImage"]>>): Design {
  const { centralImage } = design;
  return centralImage === undefined ? design : { ...design, centralImage: { ...centralImage, ...changed } };
}

/** Makes both sides long enough for modules of `scale` pixels in a square code. */
export function larger(size: number, scale: number): Step {
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
export function smaller(side: number): Step {
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

const parts = {
  dotsOptions: "dots",
  cornersSquareOptions: "cornersSquare",
  cornersDotOptions: "cornersDot",
} as const;

/** Makes the colors of the part that is least dark darker, or the background white when no color is dark enough on it. */
export function darker(design: Design, difference: number): Step {
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
export function backgroundLumas({ background }: Design): number[] {
  return colorsOf(background).map((color) => lumaOf(over(color, white)));
}
