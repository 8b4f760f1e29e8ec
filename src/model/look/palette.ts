import { black, type Color, over, white } from "../../lib/color.ts";
import { contrast, luminance, mix, toCss } from "./color.ts";
import {
  areDark,
  type Ground,
  groundOf,
  groundOfImage,
  groundsOfGradient,
  groundsThrough,
  leastContrast,
  leastShare,
  readable,
} from "./grounds.ts";
import { nightInk } from "./night-theme.ts";
import { builtInTheme, type Container, type PageTheme, type Paint } from "./page-theme.ts";

/**
 * All colors of a page. Whatever has to be read or recognized has the contrast of WCAG 2.2 AA with everything that can
 * lie behind it: 4.5 for text, 3 for large text, lines and drawings.
 */
export interface Palette {
  /** Opaque, like the colors of `element`. */
  readonly canvas: Paint;
  readonly element: Paint;
  readonly box: Box;
  readonly colors: Readonly<Record<ColorRole, Color>>;
  /** What the theme asked for and did not get. */
  readonly moved: readonly MovedColor[];
}

export type ColorRole =
  | "ground"
  | "ink"
  | "quiet"
  | "title"
  | "line"
  | "edge"
  | "field"
  | "fieldInk"
  | "fieldQuiet"
  | "onElement"
  | "elementLine"
  | "accent"
  | "onAccent"
  | "tint"
  | "onTint"
  | "badgeInk"
  | "fault";

/** A value of a theme that a page replaces, because nobody could read the page otherwise. */
export interface MovedColor {
  /** By its name in the API, such as `titleFont.color`. */
  readonly field: string;
  /** In CSS: colors, or opacities in percent. */
  readonly from: string;
  readonly to: string;
}

/** What lies between the canvas and the content. */
export interface Box {
  readonly background: Color | undefined;
  readonly border: { readonly style: string; readonly size: number; readonly color: Color };
  readonly isSeen: boolean;
}

const textRatio = 4.5;
const largeRatio = 3;
/** Pixels; from here on WCAG counts text as large, bold or not. */
const largeSize = 24;

/**
 * The palette of a theme, with its cover image or without. Each is computed once: gradients of fifty colors take some
 * milliseconds.
 */
export function paletteOf(theme: PageTheme, hasCover: boolean): Palette {
  const palettes = hasCover ? withCover : withoutCover;
  const known = palettes.get(theme);
  if (known !== undefined) return known;
  const palette = computePalette(theme, hasCover);
  palettes.set(theme, palette);
  return palette;
}

const withCover = new WeakMap<PageTheme, Palette>();
const withoutCover = new WeakMap<PageTheme, Palette>();

function computePalette(theme: PageTheme, hasCover: boolean): Palette {
  const moved: MovedColor[] = [];
  const canvas = opaque(theme.canvas, white);
  const [ground] = canvas.colors;
  const isOverImage = isImageBehind(theme, hasCover);
  const box = boxOf(theme, canvas, isOverImage, moved);
  const grounds = groundsUnder(canvas, box.background, isOverImage);
  const surface = grounds[0]?.color ?? ground;
  /** Moves a color of the theme as far as it must be moved, and says so unless the theme left it open. */
  const moveTo = (field: string, wanted: Color, on: readonly Ground[], ratio: number) => {
    const color = readable(wanted, on, ratio);
    const asked = over(wanted, on[0]?.color ?? white);
    if (!builtInColors.has(wanted) && toCss(color) !== toCss(asked))
      moved.push({ field, from: toCss(wanted), to: toCss(color) });
    return color;
  };
  const ink = moveTo("bodyFont.color", theme.body.color ?? black, grounds, textRatio);
  const titleRatio = theme.title.size >= largeSize ? largeRatio : textRatio;
  const title =
    theme.title.color === undefined ? ink : moveTo("titleFont.color", theme.title.color, grounds, titleRatio);
  const field = fieldOn(surface, areDark(grounds));
  const onField = [groundOf(field)];
  const around = [...grounds, ...onField];
  const fieldInk = inkOfField(theme.elementFont.color, ink, onField);
  const element = readablePaint(opaque(theme.element, surface), moved);
  const onElement = groundsOfGradient(element.colors);
  const accent = readable(element.colors[0], around, largeRatio);
  const tint = tintOf(surface, accent);
  const line = readable(mix(surface, ink, 0.35), around, largeRatio);
  const isFaint = element.colors.some((color) => leastContrast(color, grounds) < largeRatio);
  const iconColor = theme.badge?.iconColor;
  const { style, size, color: edging } = theme.container?.border ?? noBorder;
  const sides = sidesOf(grounds, isOverImage ? [] : groundsOfGradient(canvas.colors));
  const borderColor =
    size === 0 || edging === undefined
      ? readable(mix(ground, black, 0.2), sides, largeRatio)
      : moveTo("containerConfig.borderColor", edging, sides, largeRatio);
  return {
    canvas,
    element,
    box: { ...box, border: { style, size, color: borderColor }, isSeen: box.isSeen || size > 0 },
    moved,
    colors: {
      ground,
      ink,
      quiet: readable(mix(ink, surface, 0.3), grounds, textRatio),
      title,
      line,
      edge: mix(surface, ink, 0.14),
      field,
      fieldInk,
      fieldQuiet: readable(mix(fieldInk, field, 0.35), onField, textRatio),
      onElement:
        theme.elementFont.color === undefined
          ? textOn(onElement, surface)
          : moveTo("elementFont.color", theme.elementFont.color, onElement, textRatio),
      elementLine: isFaint ? line : transparent,
      accent,
      onAccent: textOn([groundOf(accent)], surface),
      tint,
      onTint: readable(accent, [groundOf(tint)], textRatio),
      badgeInk:
        iconColor === undefined
          ? readable(accent, [groundOf(tint)], largeRatio)
          : moveTo("badgeIconColor", iconColor, [groundOf(tint)], largeRatio),
      fault: readable(alarm, around, textRatio),
    },
  };
}

const transparent: Color = { red: 0, green: 0, blue: 0, alpha: 0 };
const alarm: Color = { red: 185, green: 28, blue: 28, alpha: 1 };
const nearlyBlack: Color = { red: 17, green: 24, blue: 39, alpha: 1 };

/** Colors that a theme has without having asked for them. */
const builtInColors: ReadonlySet<Color | undefined> = new Set([
  black,
  builtInTheme.title.color,
  builtInTheme.body.color,
  nightInk,
]);

/** The paint without anything that shows through it, so that what is painted is what was measured. */
function opaque(paint: Paint, below: Color): Paint {
  const [first, ...rest] = paint.colors;
  return { ...paint, colors: [over(first, below), ...rest.map((color) => over(color, below))] };
}

function isImageBehind({ coverMode }: PageTheme, hasCover: boolean): boolean {
  return hasCover && coverMode === "FULL";
}

/** Every color that the content may have behind it. */
function groundsUnder(canvas: Paint, box: Color | undefined, isOverImage: boolean): readonly Ground[] {
  if (box === undefined) return groundsOfGradient(canvas.colors);
  const boxed = groundsThrough(box, canvas.colors);
  return isOverImage ? [...boxed, groundOfImage(box)] : boxed;
}

/** How much of an image or a gradient a box hides that the theme did not ask for. */
const boxOpacity = 0.9;
/** A box of the theme that hides so much of an image is left as it is, if its content can be read. */
const ownBoxOpacity = 0.7;

/**
 * The box of the theme. Where content could not be read otherwise, over an image or over a gradient from dark to light, the
 * canvas lies under a faint box, or takes the place of a missing one.
 */
function boxOf(
  theme: PageTheme,
  canvas: Paint,
  isOverImage: boolean,
  moved: MovedColor[],
): Pick<Box, "background" | "isSeen"> {
  const [ground] = canvas.colors;
  const own = backgroundOf(theme.container);
  const canRead = (background: Color | undefined) => {
    const grounds = groundsUnder(canvas, background, isOverImage);
    return leastContrast(areDark(grounds) ? white : black, grounds) >= textRatio;
  };
  const opacity = own?.alpha ?? 0;
  const isEnough = !isOverImage || opacity >= ownBoxOpacity;
  if (isEnough && canRead(own)) return { background: own, isSeen: opacity > 0 };
  const solid = own === undefined ? ground : over(own, ground);
  const least = isEnough && own !== undefined ? own.alpha : boxOpacity;
  const at = (share: number): Color => asPainted({ ...solid, alpha: least + (1 - least) * share });
  const background = canRead(at(0)) ? at(0) : at(leastShare((share) => canRead(at(share))) ?? 1);
  if (theme.container?.background !== undefined)
    moved.push({
      field: "containerConfig.opacity",
      from: percent(opacity),
      to: percent(background.alpha),
    });
  return { background, isSeen: true };
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function backgroundOf(container: Container | undefined): Color | undefined {
  if (container?.background === undefined) return undefined;
  const { background, opacity } = container;
  return asPainted({ ...background, alpha: background.alpha * opacity });
}

/** The color with the nearest opacity that pages can ask for: `toCss` writes one of 256. */
function asPainted(color: Color): Color {
  return { ...color, alpha: Math.round(color.alpha * 255) / 255 };
}

const noBorder: Container["border"] = { style: "SOLID", size: 0, color: undefined };

/** What a border must be told apart from: both of its sides, or what lies within where no color is enough for both. */
function sidesOf(within: readonly Ground[], around: readonly Ground[]): readonly Ground[] {
  const both = [...within, ...around];
  return leastContrast(readable(black, both, largeRatio), both) >= largeRatio ? both : within;
}

/**
 * The color of form fields, which stand out from the surface. On a surface of middle lightness they are darker than it,
 * because nothing would be readable on lighter ones.
 */
function fieldOn(surface: Color, isDark: boolean): Color {
  if (!isDark) return mix(surface, white, 0.75);
  const lighter = mix(surface, white, 0.07);
  return contrast(white, lighter) >= 6 ? lighter : mix(surface, black, 0.2);
}

/**
 * The color of text in a field. The theme's color of element text is meant for buttons, so a field takes it only where
 * it is readable.
 */
function inkOfField(wanted: Color | undefined, ink: Color, field: readonly Ground[]): Color {
  const seen = wanted && over(wanted, field[0]?.color ?? white);
  const fits = seen !== undefined && leastContrast(seen, field) >= textRatio;
  return fits ? seen : readable(ink, field, textRatio);
}

/** The paint of buttons. A gradient on all of which no text can be read is drawn towards its first color. */
function readablePaint(paint: Paint, moved: MovedColor[]): Paint {
  const [first, ...rest] = paint.colors;
  const at = (share: number): Paint => ({
    ...paint,
    colors: [first, ...rest.map((color) => mix(color, first, share))],
  });
  const canRead = ({ colors }: Paint) => {
    const grounds = groundsOfGradient(colors);
    return leastContrast(areDark(grounds) ? white : black, grounds) >= textRatio;
  };
  if (canRead(paint)) return paint;
  const calm = at(leastShare((share) => canRead(at(share))) ?? 1);
  const list = (colors: readonly Color[]) => colors.map(toCss).join(" ");
  moved.push({ field: "elementColor", from: list(paint.colors), to: list(calm.colors) });
  return calm;
}

/** The color behind small drawings. */
function tintOf(surface: Color, accent: Color): Color {
  const tint = mix(surface, accent, 0.12);
  return luminance(surface) < 0.18 && contrast(white, tint) < textRatio ? mix(surface, black, 0.2) : tint;
}

/**
 * The color of text on a button whose owner chose none: white, as people expect on a color. On light colors it is the
 * color of the page, as if the text were cut out of the button. Where neither is readable, it is nearly black.
 */
function textOn(grounds: readonly Ground[], surface: Color): Color {
  const fitting = [white, surface].find((color) => leastContrast(color, grounds) >= textRatio);
  return fitting ?? readable(nearlyBlack, grounds, textRatio);
}
