import { black, type Color, over, white } from "../lib/color.ts";
import { contrast, leastContrast, luminance, mix, readable, toCss } from "../model/look/color.ts";
import {
  builtInTheme,
  type Container,
  type Font,
  type FontFamily,
  type PageTheme,
  type Paint,
} from "../model/look/page-theme.ts";

/**
 * What a theme looks like, as a style of custom properties for `stylesheet.ts`. Colors of text are moved towards black
 * or white until the text is readable (WCAG AA). Over a cover image the contrast cannot be known for certain.
 */
export function lookOf(theme: PageTheme, hasCover: boolean): string {
  const known = looks.get(theme)?.[Number(hasCover)];
  if (known !== undefined) return known;
  const look = makeLook(theme, hasCover);
  const both: [string | undefined, string | undefined] = looks.get(theme) ?? [undefined, undefined];
  both[Number(hasCover)] = look;
  looks.set(theme, both);
  return look;
}

// The style without a cover, and the style with one.
const looks = new WeakMap<PageTheme, [string | undefined, string | undefined]>();

function makeLook(theme: PageTheme, hasCover: boolean): string {
  const shape = shapes(theme);
  if (!theme.isBuiltIn) {
    const scheme = isDark(over(theme.canvas.colors[0], white)) ? "dark" : "light";
    return `:root{color-scheme:${scheme};${shape}${colors(theme, hasCover)}}`;
  }
  const dark = `@media(prefers-color-scheme:dark){:root{${colors(nightTheme, hasCover)}}}`;
  return `:root{color-scheme:light dark;${shape}${colors(theme, hasCover)}}${dark}`;
}

const nightCanvas: Color = { red: 13, green: 17, blue: 26, alpha: 1 };
const nightInk: Color = { red: 241, green: 245, blue: 249, alpha: 1 };

/** The built-in look on a device that is set to dark. */
const nightTheme: PageTheme = {
  ...builtInTheme,
  canvas: { ...builtInTheme.canvas, colors: [nightCanvas] },
  title: { ...builtInTheme.title, color: nightInk },
  body: { ...builtInTheme.body, color: nightInk },
};

const systemFont = 'system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif';

const fontStacks = {
  UNSPECIFIED: systemFont,
  DEFAULT: systemFont,
  ARIAL: "Arial,Helvetica,sans-serif",
  HELVETICA: 'Helvetica,"Helvetica Neue",Arial,sans-serif',
  VERDANA: "Verdana,Geneva,sans-serif",
  GEORGIA: "Georgia,serif",
  TIMES_NEW_ROMAN: '"Times New Roman",Times,serif',
  COURIER_NEW: '"Courier New",Courier,monospace',
} as const satisfies Record<FontFamily, string>;

function shapes({ title, body, elementFont, container, badge }: PageTheme): string {
  const radius = container?.variant === "SQUARE" ? "0" : ".875rem";
  const badgeRadius = { CIRCLE: "50%", ROUNDED: "1.25rem", SQUARE: "0" }[badge?.shape ?? "CIRCLE"];
  return [
    // A title may be large on a desktop screen and must still fit on a phone.
    `--title-font:${face(title, `min(${rem(title.size)},13vw)/1.2`)}`,
    `--body-font:${face(body, `${rem(body.size)}/1.55`)}`,
    `--element-font:${face(elementFont, `${rem(elementFont.size)}/1.35`)}`,
    `--element-size:${rem(elementFont.size)}`,
    `--element-weight:${elementFont.bold ? 700 : 600}`,
    `--round:${radius}`,
    `--badge-radius:${badgeRadius}`,
    "",
  ].join(";");
}

function face({ family, bold, italic }: Font, size: string): string {
  return `${italic ? "italic " : ""}${bold ? 700 : 400} ${size} ${fontStacks[family]}`;
}

// Relative to the text size that the visitor has set.
function rem(pixels: number): string {
  return `${Number((pixels / 16).toFixed(4))}rem`;
}

function colors(theme: PageTheme, hasCover: boolean): string {
  const canvas = theme.canvas.colors.map((color) => over(color, white));
  const [ground = white] = canvas;
  const box = boxOf(theme, hasCover, ground);
  const grounds = groundsOf(canvas, box.background, hasCover && theme.coverMode === "FULL");
  const [surface = ground] = grounds;
  const ink = readable(theme.body.color ?? black, grounds, 4.5);
  const field = fieldOn(surface);
  const fieldInk = inkOfField(theme.elementFont.color, ink, field);
  const around = [...grounds, field];
  const element = theme.element.colors.map((color) => over(color, surface));
  const [firstElement = black] = element;
  const accent = readable(firstElement, around, 3);
  const tint = tintOf(surface, accent);
  const line = readable(mix(surface, ink, 0.35), around, 3);
  const properties: readonly (readonly [string, string])[] = [
    ["canvas", paint(theme.canvas)],
    ["ground", toCss(ground)],
    ["ink", toCss(ink)],
    ["quiet", toCss(readable(mix(ink, surface, 0.3), grounds, 4.5))],
    ["title", toCss(readable(theme.title.color ?? ink, grounds, theme.title.size >= 24 ? 3 : 4.5))],
    ["line", toCss(line)],
    ["edge", toCss(mix(surface, ink, 0.14))],
    ["field", toCss(field)],
    ["field-ink", toCss(fieldInk)],
    ["field-quiet", toCss(readable(mix(fieldInk, field, 0.35), [field], 4.5))],
    ["element", paint(theme.element)],
    ["on-element", toCss(onPaint(theme.elementFont.color, element, surface))],
    ["element-line", leastContrast(firstElement, grounds) < 3 ? toCss(line) : "#0000"],
    ["accent", toCss(accent)],
    ["on-accent", toCss(onPaint(undefined, [accent], surface))],
    ["tint", toCss(tint)],
    ["on-tint", toCss(readable(accent, [tint], 4.5))],
    ["badge-ink", toCss(readable(theme.badge?.iconColor ?? accent, [tint], 3))],
    ["fault", toCss(readable(alarm, around, 4.5))],
    ["box", box.background === undefined ? "none" : toCss(box.background)],
    ["box-line", box.line],
    ["box-radius", theme.container?.variant === "SQUARE" ? "0" : "1.5rem"],
    ["box-padding", box.isSeen ? "2rem 1.5rem" : "0"],
  ];
  return properties.map(([name, value]) => `--${name}:${value}`).join(";");
}

const alarm: Color = { red: 185, green: 28, blue: 28, alpha: 1 };

interface Box {
  readonly background: Color | undefined;
  /** The border, in CSS. */
  readonly line: string;
  readonly isSeen: boolean;
}

function boxOf({ container, coverMode }: PageTheme, hasCover: boolean, ground: Color): Box {
  const { line, background } = boxOfContainer(container, ground);
  const opacity = background?.alpha ?? 0;
  // Text directly on a cover image would be unreadable. There the canvas lies under a faint container, or takes the
  // place
  // of a missing one.
  const isOverImage = hasCover && coverMode === "FULL" && opacity < 0.7;
  if (!isOverImage) return { background, line, isSeen: opacity > 0 || line !== "0" };
  const solid = background === undefined ? ground : over(background, ground);
  return { background: { ...solid, alpha: 0.9 }, line, isSeen: true };
}

function boxOfContainer(container: Container | undefined, ground: Color): Omit<Box, "isSeen"> {
  if (container === undefined) return { background: undefined, line: "0" };
  const { background, opacity, border } = container;
  const { style, size, color = mix(ground, black, 0.2) } = border;
  return {
    background: background === undefined ? undefined : { ...background, alpha: background.alpha * opacity },
    line: size === 0 ? "0" : `${rem(size)} ${style.toLowerCase()} ${toCss(color)}`,
  };
}

/** Every color that text may have behind it. Over an image, that is anything between black and white. */
function groundsOf(canvas: readonly Color[], box: Color | undefined, isOverImage: boolean): Color[] {
  const below = isOverImage ? [...canvas, black, white] : canvas;
  return box === undefined ? [...below] : below.map((color) => over(box, color));
}

/**
 * The color of form fields, which stand out from the surface. On a surface of middle lightness they are darker than it,
 * because nothing would be readable on lighter ones.
 */
function fieldOn(surface: Color): Color {
  if (!isDark(surface)) return mix(surface, white, 0.75);
  const lighter = mix(surface, white, 0.07);
  return contrast(white, lighter) >= 6 ? lighter : mix(surface, black, 0.2);
}

/** Whether white text is easier to read on the color than black text. */
function isDark(color: Color): boolean {
  return luminance(color) < 0.18;
}

/**
 * The color of text in a field. The theme's color of element text is meant for buttons, so a field takes it only where
 * it is readable.
 */
function inkOfField(wanted: Color | undefined, ink: Color, field: Color): Color {
  const fits = wanted !== undefined && leastContrast(over(wanted, field), [field]) >= 4.5;
  return readable(fits ? wanted : ink, [field], 4.5);
}

/** The color behind small drawings. */
function tintOf(surface: Color, accent: Color): Color {
  const tint = mix(surface, accent, 0.12);
  return isDark(surface) && contrast(white, tint) < 4.5 ? mix(surface, black, 0.2) : tint;
}

/**
 * The color of text on a button. Unless the owner chose one, it is white, as people expect on a color. On light colors
 * it is the color of the page, as if the text were cut out of the button. Where neither is readable, it is nearly
 * black.
 */
function onPaint(wanted: Color | undefined, paints: readonly Color[], surface: Color): Color {
  if (wanted !== undefined) return readable(wanted, paints, 4.5);
  const fitting = [white, surface].find((color) => leastContrast(color, paints) >= 4.5);
  return fitting ?? readable(nearlyBlack, paints, 4.5);
}

const nearlyBlack: Color = { red: 17, green: 24, blue: 39, alpha: 1 };

function paint({ type, colors: all, stops, direction }: Paint): string {
  if (type === "SOLID") return toCss(all[0]);
  const list = all.map((color, index) => [toCss(color), stops[index]].filter(Boolean).join(" ")).join(",");
  return type === "LINEAR" ? `linear-gradient(${direction},${list})` : `radial-gradient(${list})`;
}
