import { black, type Color } from "../../lib/color.ts";
import type { Font, PageTheme } from "../../model/look/page-theme.ts";
import { type Palette, paletteOf } from "../../model/look/palette.ts";
import { glyphPath } from "../icons.ts";
import { titleLine } from "../look.ts";
import { bordered } from "./borders.ts";
import { type Area, colorAttributes, filled, rounded } from "./paints.ts";

/** The size of the drawn page in pixels of a phone. */
export const page = { width: 390, height: 584 } as const;

/** A text that is painted before the page is drawn, because only then its height is known. */
export interface Text {
  readonly text: string;
  readonly font: Pick<Font, "family" | "stack" | "bold" | "italic">;
  readonly size: number;
  /** The height of a line as a multiple of the size. */
  readonly line: number;
  readonly color: Color;
  readonly width: number;
}

/** A picture inside of the page: its address as data, and the space that it takes. */
export interface Image {
  readonly href: string;
  readonly width: number;
  readonly height: number;
}

/** What paints texts, and cuts images to an area. */
export interface Painter {
  readonly text: (text: Text) => Promise<Image>;
  /** Undefined where the theme has no such image. */
  readonly cover: (width: number, height: number) => Promise<string | undefined>;
  readonly badge: (side: number) => Promise<string | undefined>;
}

/** What the drawn page says. No letter of a button goes below its line, so that all stand at one height. */
const words = {
  title: "Garden Kitchen",
  lead: "Open every day until late",
  buttons: ["See the menu", "Book a table", "How to find us"],
} as const;

// In pixels, as in `stylesheet.ts`.
const margin = 20;
const gap = 24;
const badgeSide = 88;
const buttonHeight = 52;

/** Draws a page of a theme as an SVG: the layout of `stylesheet.ts` and the colors of the page, in the least detail. */
export async function drawPage(theme: PageTheme, hasCover: boolean, painter: Painter): Promise<string> {
  const palette = paletteOf(theme, hasCover);
  const { box } = palette;
  const [paddingX, paddingY] = box.isSeen ? [24, 32] : [0, 0];
  const border = box.border.size;
  const width = page.width - 2 * (margin + border + paddingX);
  const parts = await partsOf(theme, palette, painter, width);
  const inner = parts.reduce((sum, { height, space }) => sum + height + space, 0);
  const outer = inner + 2 * (paddingY + border);
  const top = topOf(theme, hasCover, outer);
  const frame: Area = { x: margin, y: top, width: page.width - 2 * margin, height: outer };
  const radius = theme.container?.variant === "SQUARE" ? 0 : 24;
  const boxed =
    box.background === undefined
      ? ""
      : filled("box", { type: "SOLID", colors: [box.background], stops: [], direction: "" }, frame, radius);
  let y = top + border + paddingY;
  const content = parts.map(({ draw, height, space }) => {
    y += space;
    const drawn = draw(y);
    y += height;
    return drawn;
  });
  const canvas = filled("canvas", palette.canvas, { x: 0, y: 0, ...page });
  const cover = hasCover ? await coverOf(theme, painter) : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${page.width} ${page.height}">${canvas}${cover}${boxed}${bordered(box.border, frame, radius)}${content.join("")}</svg>`;
}

/** Where the content begins: in the middle, or below a cover that fades above it. */
function topOf({ coverMode }: PageTheme, hasCover: boolean, height: number): number {
  if (hasCover && coverMode === "PROGRESSIVE_TOP") return Math.min(page.height * 0.38, 336);
  const room = hasCover && coverMode === "PROGRESSIVE_BOTTOM" ? page.height * 0.6 : page.height;
  return Math.max(32, (room - height) / 2);
}

async function coverOf({ coverMode }: PageTheme, painter: Painter): Promise<string> {
  const height = coverMode === "FULL" ? page.height : Math.min(page.height * 0.46, 416);
  const href = await painter.cover(page.width, Math.round(height));
  if (href === undefined) return "";
  const y = coverMode === "PROGRESSIVE_BOTTOM" ? page.height - height : 0;
  const image = `<image y="${rounded(y)}" width="${page.width}" height="${rounded(height)}" preserveAspectRatio="none" href="${href}"`;
  if (coverMode === "FULL") return `${image}/>`;
  const [seen, gone] = coverMode === "PROGRESSIVE_TOP" ? [0.4, 0.8] : [0.6, 0.16];
  return `<linearGradient id="fade" gradientUnits="userSpaceOnUse" x1="0" x2="0" y1="${rounded(y + seen * height)}" y2="${rounded(y + gone * height)}"><stop stop-color="#fff"/><stop offset="1" stop-color="#000"/></linearGradient><mask id="veil"><rect y="${rounded(y)}" width="${page.width}" height="${rounded(height)}" fill="url(#fade)"/></mask>${image} mask="url(#veil)"/>`;
}

/** A part of the content, from the top to the bottom. */
interface Part {
  readonly height: number;
  /** What is left empty above it. */
  readonly space: number;
  readonly draw: (y: number) => string;
}

async function partsOf(theme: PageTheme, palette: Palette, painter: Painter, width: number): Promise<Part[]> {
  const { title, body } = theme;
  const { colors } = palette;
  const badge = theme.badge === undefined ? [] : [badgePart(theme, palette, await painter.badge(badgeSide))];
  // As `look.ts` says, a title may be large on a desktop screen and must still fit on a phone.
  const size = Math.min(title.size, page.width * 0.13);
  const head = await painter.text({
    text: words.title,
    font: title,
    size,
    line: titleLine(title.size),
    color: colors.title,
    width,
  });
  const lead = await painter.text({
    text: words.lead,
    font: body,
    size: body.size,
    line: 1.55,
    color: colors.quiet,
    width,
  });
  const buttons: Part[] = [];
  for (const [index, text] of words.buttons.entries())
    buttons.push(await buttonPart(theme, palette, painter, { text, index, width }));
  return [
    ...badge,
    textPart(head, size * (titleLine(title.size) - 1), badge.length === 0 ? 0 : gap),
    textPart(lead, body.size * 0.55, 12),
    ...buttons,
  ];
}

/** A painted text in the middle of the page, with the leading that browsers put around it. */
function textPart(image: Image, leading: number, space: number): Part {
  return {
    height: image.height + leading,
    space,
    draw: (y) => placed(image, page.width / 2, y + (image.height + leading) / 2),
  };
}

function placed({ href, width, height }: Image, centerX: number, centerY: number): string {
  return `<image x="${rounded(centerX - width / 2)}" y="${rounded(centerY - height / 2)}" width="${rounded(width)}" height="${rounded(height)}" href="${href}"/>`;
}

async function buttonPart(
  theme: PageTheme,
  { element, colors }: Palette,
  painter: Painter,
  { text, index, width }: { readonly text: string; readonly index: number; readonly width: number },
): Promise<Part> {
  const { elementFont } = theme;
  const font = { ...elementFont, bold: true };
  const label = await painter.text({
    text,
    font,
    size: elementFont.size,
    line: 1.35,
    color: colors.onElement,
    width: width - 42,
  });
  const height = Math.max(buttonHeight, label.height + 26);
  const radius = theme.container?.variant === "SQUARE" ? 0 : 14;
  return {
    height,
    space: index === 0 ? gap : 12,
    draw: (y) => {
      const area = { x: (page.width - width) / 2, y, width, height };
      const line = {
        style: "SOLID",
        size: colors.elementLine.alpha === 0 ? 0 : 1,
        color: colors.elementLine,
      };
      return `${filled(`button${index}`, element, area, radius)}${bordered(line, area, radius)}${placed(label, page.width / 2, y + height / 2)}`;
    },
  };
}

function badgePart({ badge }: PageTheme, { colors }: Palette, href: string | undefined): Part {
  const radius = { CIRCLE: badgeSide / 2, ROUNDED: 20, SQUARE: 0 }[badge?.shape ?? "CIRCLE"];
  const x = (page.width - badgeSide) / 2;
  const outline = (y: number, fill: string) =>
    `<rect x="${x}" y="${rounded(y)}" width="${badgeSide}" height="${badgeSide}" rx="${radius}" ${fill}/>`;
  return {
    height: badgeSide,
    space: 0,
    draw: (y) => {
      const ground = outline(y, colorAttributes("fill", colors.tint));
      if (href === undefined) {
        const place = `translate(${x + badgeSide / 4} ${rounded(y + badgeSide / 4)}) scale(${badgeSide / 48})`;
        return `${ground}<path transform="${place}" fill="none" ${colorAttributes("stroke", colors.badgeInk)} stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" d="${glyphPath("star")}"/>`;
      }
      const clip = `<clipPath id="badge">${outline(y, colorAttributes("fill", black))}</clipPath>`;
      return `${ground}${clip}<image clip-path="url(#badge)" x="${x}" y="${rounded(y)}" width="${badgeSide}" height="${badgeSide}" href="${href}"/>`;
    },
  };
}
