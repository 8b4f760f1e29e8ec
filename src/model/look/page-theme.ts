import type { Color } from "../../lib/color.ts";
import { lruCache } from "../../lib/lru-cache.ts";
import { parseColor } from "./color.ts";

/** The look of hosted pages, as they are drawn. Every value is checked, so that nothing but a look gets into a page. */
export interface PageTheme {
  /**
   * Whether it follows the light or dark setting of the visitor's device: the built-in look, and a theme that names no color
   * of the canvas, of the box and of texts.
   */
  readonly followsDevice: boolean;
  readonly canvas: Paint;
  readonly coverMode: "FULL" | "PROGRESSIVE_TOP" | "PROGRESSIVE_BOTTOM";
  readonly badge: Badge | undefined;
  readonly title: Font;
  readonly body: Font;
  readonly element: Paint;
  readonly elementFont: Font;
  readonly container: Container | undefined;
}

/** One color, or a gradient of at least two colors. */
export interface Paint {
  readonly type: "SOLID" | "LINEAR" | "RADIAL";
  readonly colors: readonly [Color, ...Color[]];
  /** In CSS, as many as there are colors. Empty when the colors are evenly spread. */
  readonly stops: readonly string[];
  /** The direction of a LINEAR gradient, in CSS. */
  readonly direction: string;
}

export interface Font {
  readonly family: FontFamily;
  /** The families to try in place of `family`, in CSS. */
  readonly stack: string | undefined;
  /** Pixels, 8 to 96. */
  readonly size: number;
  readonly bold: boolean;
  readonly italic: boolean;
  /** Undefined for a color that is readable on its ground. */
  readonly color: Color | undefined;
}

export type FontFamily = (typeof fontFamilies)[number];

export interface Badge {
  readonly shape: "CIRCLE" | "SQUARE" | "ROUNDED";
  /** The color of the glyph that stands for a badge without an image. */
  readonly iconColor: Color | undefined;
}

export interface Container {
  readonly variant: "ROUNDED" | "SQUARE";
  readonly background: Color | undefined;
  /** 0 to 1. */
  readonly opacity: number;
  readonly border: { readonly style: BorderStyle; readonly size: number; readonly color: Color | undefined };
}

export type BorderStyle = (typeof borderStyles)[number];

const fontFamilies = [
  "UNSPECIFIED",
  "DEFAULT",
  "ARIAL",
  "HELVETICA",
  "VERDANA",
  "GEORGIA",
  "TIMES_NEW_ROMAN",
  "COURIER_NEW",
] as const;
const borderStyles = ["SOLID", "DASHED", "DOTTED", "DOUBLE", "GROOVE", "RIDGE"] as const;

const ink: Color = { red: 17, green: 24, blue: 39, alpha: 1 };

/** The built-in look: a white canvas, blue elements, dark text of 28 and 16 pixels. */
export const builtInTheme: PageTheme = {
  followsDevice: true,
  canvas: solid({ red: 255, green: 255, blue: 255, alpha: 1 }),
  coverMode: "FULL",
  badge: undefined,
  title: { family: "DEFAULT", stack: undefined, size: 28, bold: true, italic: false, color: ink },
  body: { family: "DEFAULT", stack: undefined, size: 16, bold: false, italic: false, color: ink },
  element: solid({ red: 37, green: 99, blue: 235, alpha: 1 }),
  elementFont: {
    family: "DEFAULT",
    stack: undefined,
    size: 16,
    bold: false,
    italic: false,
    color: undefined,
  },
  container: undefined,
};

/** The built-in look as a stored styling: what a theme shows for values that it does not have. */
export const defaultStyling = {
  canvasColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#ffffff"] },
  titleFont: {
    family: "PAGE_THEME_FONT_FAMILY_DEFAULT",
    fontSize: 28,
    bold: true,
    color: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#111827"] },
  },
  bodyFont: {
    family: "PAGE_THEME_FONT_FAMILY_DEFAULT",
    fontSize: 16,
    color: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#111827"] },
  },
  elementColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#2563eb"] },
  elementFont: { family: "PAGE_THEME_FONT_FAMILY_DEFAULT", fontSize: 16 },
};

/**
 * Reads a stored styling, the JSON of a page theme. What is missing or broken takes the value of the built-in look, and
 * no styling gives the built-in look. The same object always gives the same theme. Equal ones do too for as long as the
 * theme is remembered, so that a thousand links of one look share what is computed from it.
 */
export function pageTheme(styling: unknown): PageTheme {
  if (!isRecord(styling)) return builtInTheme;
  const known = themes.get(styling);
  if (known !== undefined) return known;
  const written = JSON.stringify(styling);
  const theme = equalThemes.get(written) ?? readTheme(styling);
  equalThemes.set(written, theme, { size: Math.max(usualLetters, written.length) });
  themes.set(styling, theme);
  return theme;
}

const themes = new WeakMap<object, PageTheme>();

/** At most a thousand themes are remembered, and fewer large ones: the largest have about 20,000 letters as JSON. */
const [usualLetters, lettersMax] = [1_000, 1_000_000];
const equalThemes = lruCache<PageTheme>(lettersMax);

type StoredFields = Readonly<Record<string, unknown>>;

function readTheme(stored: StoredFields): PageTheme {
  const { containerConfig } = stored;
  return {
    followsDevice: !namesGround(stored),
    canvas: readPaint(stored.canvasColor) ?? builtInTheme.canvas,
    coverMode: oneOf(
      ["FULL", "PROGRESSIVE_TOP", "PROGRESSIVE_BOTTOM"],
      stored.canvasCoverMode,
      "PAGE_THEME_BACKGROUND_COVER_MODE_",
    ),
    badge: stored.badgeEnabled === true ? readBadge(stored) : undefined,
    title: readFont(stored.titleFont, builtInTheme.title),
    body: readFont(stored.bodyFont, builtInTheme.body),
    element: readPaint(stored.elementColor) ?? builtInTheme.element,
    elementFont: readFont(stored.elementFont, builtInTheme.elementFont),
    container:
      stored.containerEnabled === true && isRecord(containerConfig)
        ? readContainer(containerConfig)
        : undefined,
  };
}

/** Whether a stored styling names a color of what lies below the content, or of its texts. */
function namesGround({
  canvasColor,
  titleFont,
  bodyFont,
  containerEnabled,
  containerConfig,
}: StoredFields): boolean {
  const named = [canvasColor, colorIn(titleFont), colorIn(bodyFont)];
  const box = containerEnabled === true && isRecord(containerConfig) ? containerConfig : {};
  return [...named, box.backgroundColor, box.borderColor].some((color) => readPaint(color) !== undefined);
}

function colorIn(font: unknown): unknown {
  return isRecord(font) ? font.color : undefined;
}

function readBadge({ badgeShape, badgeIconColor }: StoredFields): Badge {
  return {
    shape: oneOf(["CIRCLE", "SQUARE", "ROUNDED"], badgeShape, "PAGE_THEME_BADGE_SHAPE_"),
    iconColor: readPaint(badgeIconColor)?.colors[0],
  };
}

function readFont(stored: unknown, fallback: Font): Font {
  if (!isRecord(stored)) return fallback;
  return {
    family: oneOf(fontFamilies, stored.family, "PAGE_THEME_FONT_FAMILY_"),
    stack: readStack(stored.familyStack),
    size: numberWithin(stored.fontSize, 8, 96) ?? fallback.size,
    bold: stored.bold === true,
    italic: stored.italic === true,
    color: readPaint(stored.color)?.colors[0] ?? fallback.color,
  };
}

const genericFamilies: ReadonlySet<string> = new Set([
  "serif",
  "sans-serif",
  "monospace",
  "cursive",
  "fantasy",
  "system-ui",
  "ui-serif",
  "ui-sans-serif",
  "ui-monospace",
  "ui-rounded",
]);

/** Writes a list of font families anew: names in quotes, so that none means anything else. Undefined unless all are names. */
function readStack(stored: unknown): string | undefined {
  if (typeof stored !== "string" || stored.length > 200) return undefined;
  const families = stored.split(",").map((part) => {
    const [, , quoted, bare] = /^(?:(["'])([\w -]+)\1|([a-z_-][\w -]*))$/i.exec(part.trim()) ?? [];
    if (bare !== undefined && genericFamilies.has(bare.toLowerCase())) return bare.toLowerCase();
    const name = (quoted ?? bare)?.trim();
    return name ? `"${name}"` : undefined;
  });
  return families.every((family) => family !== undefined) ? families.join(",") : undefined;
}

function readContainer(stored: StoredFields): Container {
  return {
    variant: oneOf(["ROUNDED", "SQUARE"], stored.variant, "PAGE_THEME_CONTAINER_VARIANT_"),
    background: readPaint(stored.backgroundColor)?.colors[0],
    opacity: (numberWithin(stored.opacity, 0, 100) ?? 0) / 100,
    border: {
      style: oneOf(borderStyles, stored.borderStyle, "PAGE_THEME_BORDER_STYLE_"),
      // The API takes any size. A thicker border than this would leave no room for the content on a phone.
      size: Math.min(24, numberWithin(stored.borderSize, 0, Number.MAX_SAFE_INTEGER) ?? 0),
      color: readPaint(stored.borderColor)?.colors[0],
    },
  };
}

/** Undefined when no color of it can be read. */
function readPaint(stored: unknown): Paint | undefined {
  if (!isRecord(stored)) return undefined;
  const colors = texts(stored.colors).map(parseColor);
  const [first, ...rest] = colors.filter((color) => color !== undefined);
  if (first === undefined) return undefined;
  const type = oneOf(["SOLID", "LINEAR", "RADIAL"], stored.type, "THEME_COLOR_TYPE_");
  if (type === "SOLID" || rest.length === 0) return solid(first);
  const stops = texts(stored.stops).filter((stop) => /^-?\d{1,4}(?:\.\d{1,4})?(?:%|px)$/.test(stop));
  return {
    type,
    colors: [first, ...rest],
    stops: stops.length === rest.length + 1 ? stops : [],
    direction: readDirection(stored.direction),
  };
}

function readDirection(stored: unknown): string {
  const angle = /^-?\d{1,4}(?:\.\d{1,4})?(?:deg|grad|rad|turn)$/;
  const side = /^to (?:top|bottom)(?: (?:left|right))?$|^to (?:left|right)(?: (?:top|bottom))?$/;
  const text = typeof stored === "string" ? stored.trim().toLowerCase() : "";
  return angle.test(text) || side.test(text) ? text : "to bottom";
}

function solid(color: Color): Paint {
  return { type: "SOLID", colors: [color], stops: [], direction: "" };
}

/** The stored enum value without its prefix. The first choice stands in for a value that is not among them. */
function oneOf<Choice extends string>(
  choices: readonly [Choice, ...Choice[]],
  stored: unknown,
  prefix: string,
): Choice {
  const bare = typeof stored === "string" ? stored.replace(prefix, "") : "";
  return choices.find((choice) => choice === bare) ?? choices[0];
}

function numberWithin(stored: unknown, min: number, max: number): number | undefined {
  return typeof stored === "number" && stored >= min && stored <= max ? stored : undefined;
}

function texts(stored: unknown): string[] {
  return Array.isArray(stored) ? stored.filter((item) => typeof item === "string") : [];
}

function isRecord(value: unknown): value is StoredFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
