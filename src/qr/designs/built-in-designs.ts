import type { CornersDotType, CornersSquareType, DotsType, Shape } from "../drawing/design.ts";

/** A ready-made design that every workspace can use. */
export interface BuiltInDesign {
  readonly name: string;
  /** Its public identifier, which never changes. */
  readonly slug: string;
  readonly description: string;
  /** The design as it is stored, by the contract's JSON names. What is missing takes the default. */
  readonly options: Readonly<Record<string, unknown>>;
}

interface Look {
  readonly shape?: Shape;
  /** The form of a part, and its color or colors. */
  readonly dots: readonly [type: DotsType, color: ThemeColor];
  readonly cornersSquare: readonly [type: CornersSquareType, color: ThemeColor];
  /** Whether the frames' outer corners stay round; otherwise machine vision finds the code as well. */
  readonly hasRoundFrames?: boolean;
  readonly cornersDot: readonly [type: CornersDotType, color: ThemeColor];
  readonly background: string;
}

interface ThemeColor {
  readonly type: string;
  readonly colors: readonly string[];
  readonly stops?: readonly string[];
  readonly direction?: string;
}

/** Every built-in design is readable in every format from 200 pixels up, which `built-in-designs.test.ts` proves. */
export const builtInDesigns: readonly BuiltInDesign[] = [
  {
    name: "Classic",
    slug: "classic",
    description: "Black squares on white: the code that everybody knows, and the easiest to read.",
    options: options({
      dots: ["SQUARE", solid("#000000")],
      cornersSquare: ["SQUARE", solid("#000000")],
      cornersDot: ["SQUARE", solid("#000000")],
      background: "#ffffff",
    }),
  },
  {
    name: "Ink",
    slug: "ink",
    description: "Soft, flowing lines in blue-black ink with rounded corners. Calm and modern.",
    options: options({
      dots: ["EXTRA_ROUNDED", solid("#0f172a")],
      cornersSquare: ["EXTRA_ROUNDED", solid("#0f172a")],
      cornersDot: ["DOT", solid("#172554")],
      background: "#ffffff",
    }),
  },
  {
    name: "Lagoon",
    slug: "lagoon",
    description: "Rounded dots that run from deep teal to royal blue.",
    options: options({
      dots: ["ROUNDED", linear("135deg", "#042f2e", "#172554")],
      cornersSquare: ["EXTRA_ROUNDED", solid("#172554")],
      cornersDot: ["DOT", solid("#042f2e")],
      background: "#ffffff",
    }),
  },
  {
    name: "Sunset",
    slug: "sunset",
    description: "The evening sky from plum to ember, on warm paper.",
    options: options({
      dots: ["CLASSY_ROUNDED", linear("to bottom", "#3b0764", "#4c0519", "#431407")],
      cornersSquare: ["EXTRA_ROUNDED", solid("#3b0764")],
      cornersDot: ["DOT", solid("#4c0519")],
      background: "#fff7ed",
    }),
  },
  {
    name: "Fern",
    slug: "fern",
    description: "Leaves in forest green on a hint of mint, for all that grows.",
    options: options({
      dots: ["CLASSY", solid("#052e16")],
      cornersSquare: ["LEAF", solid("#052e16")],
      cornersDot: ["TEARDROP", solid("#083319")],
      background: "#f0fdf4",
    }),
  },
  {
    name: "Circuit",
    slug: "circuit",
    description: "Conductors and solder pads on a pale board, for everything with a chip in it.",
    options: options({
      dots: ["CIRCUIT_CHIP", solid("#022c22")],
      cornersSquare: ["OCTAGON", solid("#022c22")],
      cornersDot: ["OCTAGON", solid("#431407")],
      background: "#ecfdf5",
    }),
  },
  {
    name: "Honeycomb",
    slug: "honeycomb",
    description: "Cells of dark honey on wax.",
    options: options({
      dots: ["HEXAGON", linear("to bottom right", "#4a2008", "#3a1603")],
      cornersSquare: ["HEXAGON", solid("#451a03")],
      cornersDot: ["HEXAGON", solid("#4a2008")],
      background: "#fffbeb",
    }),
  },
  {
    name: "Fizz",
    slug: "fizz",
    description: "Bubbles of every size in raspberry, with round corners.",
    options: options({
      dots: ["BUBBLY_DOTS", solid("#831843")],
      cornersSquare: ["DOT", solid("#831843")],
      hasRoundFrames: true,
      cornersDot: ["DOT", solid("#9d174d")],
      background: "#fdf2f8",
    }),
  },
  {
    name: "Orbit",
    slug: "orbit",
    description: "A round code of fine dots, glowing indigo from the middle.",
    options: options({
      shape: "CIRCLE",
      dots: ["DOTS", radial("#312e81", "#1e1b4b")],
      cornersSquare: ["DOT", solid("#1e1b4b")],
      hasRoundFrames: true,
      cornersDot: ["DOT", solid("#312e81")],
      background: "#ffffff",
    }),
  },
  {
    name: "Starlight",
    slug: "starlight",
    description: "Cut stones in slate with a red star in every corner.",
    options: options({
      dots: ["OCTAGON", solid("#1e293b")],
      cornersSquare: ["OCTAGON", solid("#1e293b")],
      cornersDot: ["STAR", solid("#701414")],
      background: "#ffffff",
    }),
  },
];

function options({ shape = "SQUARE", dots, cornersSquare, hasRoundFrames = false, ...look }: Look) {
  const { cornersDot, background } = look;
  return {
    shape: `SHAPE_${shape}`,
    dotsOptions: { type: `DOTS_TYPE_${dots[0]}`, themeColor: dots[1] },
    cornersSquareOptions: {
      type: `CORNERS_SQUARE_TYPE_${cornersSquare[0]}`,
      themeColor: cornersSquare[1],
      sharpCorners: !hasRoundFrames,
    },
    cornersDotOptions: { type: `CORNERS_DOT_TYPE_${cornersDot[0]}`, themeColor: cornersDot[1] },
    backgroundOptions: { themeColor: solid(background) },
    errorCorrectionLevel: "Q",
    width: 512,
    height: 512,
    outputFileFormat: "OUTPUT_FILE_FORMAT_PNG",
  };
}

function solid(color: string): ThemeColor {
  return { type: "THEME_COLOR_TYPE_SOLID", colors: [color] };
}

function linear(direction: string, ...colors: string[]): ThemeColor {
  return { type: "THEME_COLOR_TYPE_LINEAR", colors, direction };
}

function radial(...colors: string[]): ThemeColor {
  return { type: "THEME_COLOR_TYPE_RADIAL", colors };
}
