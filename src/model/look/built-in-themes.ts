/** A ready-made look for pages that every workspace can use. */
export interface BuiltInTheme {
  readonly name: string;
  /** Its public identifier, which never changes. */
  readonly slug: string;
  readonly description: string;
  readonly tags: string;
  /** The look as it is stored, by the contract's JSON names. What is missing takes the default. */
  readonly styling: Readonly<Record<string, unknown>>;
  /** Whether it has the built-in cover picture. */
  readonly hasCover?: boolean;
}

/** They differ in their layout and their voice, so that each is another kind of page and no mere change of color. */
export const builtInThemes: readonly BuiltInTheme[] = [
  {
    name: "Plain",
    slug: "plain",
    description:
      "Black on white, sharp edges and nothing else. Says what it has to say and leaves room around it.",
    tags: "minimal,light",
    styling: {
      canvasColor: solid("#ffffff"),
      titleFont: font("HELVETICA", 34, "#0a0a0a"),
      bodyFont: font("HELVETICA", 16, "#404040"),
      elementColor: solid("#0a0a0a"),
      elementFont: font("HELVETICA", 16, "#ffffff"),
      ...container({ variant: "SQUARE", background: "#ffffff" }),
    },
  },
  {
    name: "Poster",
    slug: "poster",
    description:
      "A huge title, a hard black frame, and yellow that nobody walks past. For events, offers and openings.",
    tags: "bold,events",
    styling: {
      canvasColor: solid("#ffd60a"),
      titleFont: font("ARIAL", 56, "#0a0a0a", { bold: true }),
      bodyFont: font("ARIAL", 18, "#0a0a0a"),
      elementColor: solid("#e11d2e"),
      elementFont: font("ARIAL", 18, "#ffffff"),
      ...container({
        variant: "SQUARE",
        background: "#ffffff",
        opacity: 100,
        border: ["SOLID", 5, "#0a0a0a"],
      }),
    },
  },
  {
    name: "Gazette",
    slug: "gazette",
    description: "Ink on warm paper between double rules, set in a serif face like a good magazine.",
    tags: "editorial,serif",
    styling: {
      canvasColor: solid("#f3ecdf"),
      titleFont: font("GEORGIA", 42, "#2a1f17"),
      bodyFont: font("GEORGIA", 18, "#4a3b2f"),
      elementColor: solid("#7a1f2b"),
      elementFont: font("GEORGIA", 17, "#fdf8ef"),
      ...container({
        variant: "SQUARE",
        background: "#fbf7ee",
        opacity: 100,
        border: ["DOUBLE", 4, "#2a1f17"],
      }),
    },
  },
  {
    name: "Daybreak",
    slug: "daybreak",
    description:
      "A picture over the whole width that runs into deep evening blue. Made for a photograph of your own.",
    tags: "photographic,cover",
    hasCover: true,
    styling: {
      canvasColor: solid("#221f36"),
      canvasCoverMode: "PAGE_THEME_BACKGROUND_COVER_MODE_PROGRESSIVE_TOP",
      titleFont: font("DEFAULT", 38, "#ffffff", { bold: true }),
      bodyFont: font("DEFAULT", 17, "#e8dfe8"),
      elementColor: solid("#f6c595"),
      elementFont: font("DEFAULT", 17, "#221f36"),
    },
  },
  {
    name: "Confetti",
    slug: "confetti",
    description: "A round badge, candy colors and a dashed edge. For parties, children and ice cream.",
    tags: "playful,colorful",
    styling: {
      canvasColor: linear("160deg", "#ffd1ec", "#ffe9b8", "#c9f2ff"),
      badgeEnabled: true,
      badgeShape: "PAGE_THEME_BADGE_SHAPE_CIRCLE",
      badgeIconColor: solid("#d61f7d"),
      titleFont: font("VERDANA", 34, "#5b1a8b", { bold: true }),
      bodyFont: font("VERDANA", 17, "#4b2a63"),
      elementColor: linear("90deg", "#7b2ff7", "#d61f7d"),
      elementFont: font("VERDANA", 17, "#ffffff"),
      ...container({
        variant: "ROUNDED",
        background: "#ffffff",
        opacity: 85,
        border: ["DASHED", 3, "#d61f7d"],
      }),
    },
  },
  {
    name: "Midnight",
    slug: "midnight",
    description:
      "Near black with a glow behind glass, and one bright green. For music, games and late hours.",
    tags: "dark,night",
    styling: {
      canvasColor: {
        type: "THEME_COLOR_TYPE_RADIAL",
        colors: ["#161e33", "#0b0e17", "#06070c"],
        stops: ["0%", "60%", "100%"],
      },
      titleFont: font("COURIER_NEW", 32, "#b7ff5a", { bold: true }),
      bodyFont: font("COURIER_NEW", 16, "#c3cbe0"),
      elementColor: solid("#b7ff5a"),
      elementFont: font("COURIER_NEW", 16, "#0b0e17"),
      ...container({
        variant: "ROUNDED",
        background: "#ffffff",
        opacity: 5,
        border: ["SOLID", 1, "#6e7380"],
      }),
    },
  },
];

function solid(color: string) {
  return { type: "THEME_COLOR_TYPE_SOLID", colors: [color] };
}

function linear(direction: string, ...colors: string[]) {
  return { type: "THEME_COLOR_TYPE_LINEAR", colors, direction };
}

function font(family: string, fontSize: number, color: string, face: { bold?: true } = {}) {
  return { family: `PAGE_THEME_FONT_FAMILY_${family}`, fontSize, color: solid(color), ...face };
}

interface Frame {
  readonly variant: "ROUNDED" | "SQUARE";
  readonly background: string;
  /** Percent; without it the background is not seen. */
  readonly opacity?: number;
  readonly border?: readonly [style: string, size: number, color: string];
}

function container({ variant, background, opacity, border }: Frame) {
  const containerConfig = {
    variant: `PAGE_THEME_CONTAINER_VARIANT_${variant}`,
    backgroundColor: solid(background),
    ...(opacity === undefined ? {} : { opacity }),
  };
  if (border === undefined) return { containerEnabled: true, containerConfig };
  const [style, borderSize, color] = border;
  return {
    containerEnabled: true,
    containerConfig: {
      ...containerConfig,
      borderStyle: `PAGE_THEME_BORDER_STYLE_${style}`,
      borderSize,
      borderColor: solid(color),
    },
  };
}
