import { over, white } from "../lib/color.ts";
import { luminance, toCss } from "../model/look/color.ts";
import { nightOf } from "../model/look/night-theme.ts";
import type { Font, PageTheme, Paint } from "../model/look/page-theme.ts";
import { paletteOf } from "../model/look/palette.ts";
import { familiesOf } from "./font-faces.ts";

/**
 * What a theme looks like, as a style of custom properties for `stylesheet.ts`.
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

/** The color of the browser around a page: by day, and by night where a page has another one then. */
export function browserColors(theme: PageTheme): {
  readonly day: string;
  readonly night?: string;
} {
  const day = toCss(over(theme.canvas.colors[0], white));
  return theme.followsDevice ? { day, night: toCss(nightOf(theme).canvas.colors[0]) } : { day };
}

// The style without a cover, and the style with one.
const looks = new WeakMap<PageTheme, [string | undefined, string | undefined]>();

function makeLook(theme: PageTheme, hasCover: boolean): string {
  const shape = shapes(theme);
  if (!theme.followsDevice) {
    // Browsers draw parts of fields themselves, such as the sign of a calendar. They must be seen on the field.
    const scheme = luminance(paletteOf(theme, hasCover).colors.field) < 0.18 ? "dark" : "light";
    return `:root{color-scheme:${scheme};${shape}${colors(theme, hasCover)}}`;
  }
  const dark = `@media(prefers-color-scheme:dark){:root{${colors(nightOf(theme), hasCover)}}}`;
  return `:root{color-scheme:light dark;${shape}${colors(theme, hasCover)}}${dark}`;
}

function shapes({ title, body, elementFont, container, badge }: PageTheme): string {
  // With a unit, because the style makes other lengths of it. Four of them round the largest mark.
  const radius = container?.variant === "SQUARE" ? "0px" : ".875rem";
  const badgeRadius = { CIRCLE: "50%", ROUNDED: "1.25rem", SQUARE: "0" }[badge?.shape ?? "CIRCLE"];
  return [
    // A title may be large on a desktop screen and must still fit on a phone.
    `--title-font:${face(title, `min(${rem(title.size)},13vw)/${titleLine(title.size)}`)}`,
    `--body-font:${face(body, `${rem(body.size)}/1.55`)}`,
    `--element-font:${face(elementFont, `${rem(elementFont.size)}/1.35`)}`,
    `--element-size:${rem(elementFont.size)}`,
    `--element-weight:${elementFont.bold ? 700 : 600}`,
    `--round:${radius}`,
    `--badge-radius:${badgeRadius}`,
    "",
  ].join(";");
}

/** The height of a title's line. Large letters need less room between them. */
export function titleLine(size: number): number {
  return size < 40 ? 1.2 : 1.125;
}

function face(font: Font, size: string): string {
  return `${font.italic ? "italic " : ""}${font.bold ? 700 : 400} ${size} ${familiesOf(font)}`;
}

// Relative to the text size that the visitor has set.
function rem(pixels: number): string {
  return `${Number((pixels / 16).toFixed(4))}rem`;
}

function colors(theme: PageTheme, hasCover: boolean): string {
  const { canvas, element, box, colors: named } = paletteOf(theme, hasCover);
  const { style, size, color } = box.border;
  const properties: readonly (readonly [string, string])[] = [
    ["canvas", paint(canvas)],
    ["element", paint(element)],
    ...Object.entries(named).map(([role, color]) => [propertyOf(role), toCss(color)] as const),
    ["box", box.background === undefined ? "none" : toCss(box.background)],
    ["box-line", size === 0 ? "0" : `${rem(size)} ${style.toLowerCase()} ${toCss(color)}`],
    ["box-radius", theme.container?.variant === "SQUARE" ? "0" : "1.5rem"],
    ["box-padding", box.isSeen ? "2rem 1.5rem" : "0"],
  ];
  return properties.map(([name, value]) => `--${name}:${value}`).join(";");
}

/** The name of a role as a custom property: `field-ink` for `fieldInk`. */
function propertyOf(role: string): string {
  return role.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function paint({ type, colors: all, stops, direction }: Paint): string {
  if (type === "SOLID") return toCss(all[0]);
  const list = all.map((color, index) => [toCss(color), stops[index]].filter(Boolean).join(" ")).join(",");
  return type === "LINEAR" ? `linear-gradient(${direction},${list})` : `radial-gradient(${list})`;
}
