import type { Color } from "../../lib/color.ts";
import type { PageTheme } from "../../model/look/page-theme.ts";
import { paletteOf } from "../../model/look/palette.ts";
import { glyphPath } from "../icons.ts";
import { type Area, colorAttributes, filled, rounded } from "./paints.ts";

/** The size of a card in pixels, in the proportions in which chats and social networks show it. */
export const card = { width: 1200, height: 630 } as const;

const badgeSide = 150;
const middle = card.width / 2;

/**
 * Draws the card of a link whose theme has no image, as an SVG: the colors of its page, with bars in place of words. A chat
 * shows the words beside it, and in fonts that know every script.
 */
export function drawCard(theme: PageTheme): string {
  const { canvas, element, box, colors } = paletteOf(theme, false);
  const parts: readonly { readonly height: number; readonly draw: (y: number) => string }[] = [
    ...(theme.badge === undefined
      ? []
      : [
          {
            height: badgeSide,
            draw: (y: number) => badge(theme, { tint: colors.tint, ink: colors.badgeInk }, y),
          },
        ]),
    { height: 52, draw: (y) => bar(560, 52, y, colors.title) },
    { height: 22, draw: (y) => bar(400, 22, y, colors.quiet) },
    {
      height: 84,
      draw: (y) => {
        const area: Area = { x: middle - 280, y, width: 560, height: 84 };
        return filled("element", element, area, theme.container?.variant === "SQUARE" ? 0 : 24);
      },
    },
  ];
  const gap = 34;
  const inner = parts.reduce((sum, { height }) => sum + height + gap, -gap);
  let y = (card.height - inner) / 2;
  const content = parts.map(({ height, draw }) => {
    const drawn = draw(y);
    y += height + gap;
    return drawn;
  });
  const frame: Area = { x: middle - 370, y: (card.height - inner) / 2 - 48, width: 740, height: inner + 96 };
  const boxed =
    box.background === undefined
      ? ""
      : filled("box", solid(box.background), frame, theme.container?.variant === "SQUARE" ? 0 : 40);
  const ground = filled("canvas", canvas, { x: 0, y: 0, ...card });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${card.width} ${card.height}" width="${card.width}" height="${card.height}">${ground}${boxed}${content.join("")}</svg>`;
}

function bar(width: number, height: number, y: number, color: Color): string {
  return filled("", solid(color), { x: middle - width / 2, y, width, height }, height / 2);
}

function badge({ badge }: PageTheme, { tint, ink }: { tint: Color; ink: Color }, y: number): string {
  const radius = { CIRCLE: badgeSide / 2, ROUNDED: 34, SQUARE: 0 }[badge?.shape ?? "CIRCLE"];
  const x = middle - badgeSide / 2;
  const ground = filled("badge", solid(tint), { x, y, width: badgeSide, height: badgeSide }, radius);
  const place = `translate(${x + badgeSide / 4} ${rounded(y + badgeSide / 4)}) scale(${badgeSide / 48})`;
  return `${ground}<path transform="${place}" fill="none" ${colorAttributes("stroke", ink)} stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" d="${glyphPath("signpost")}"/>`;
}

function solid(color: Color) {
  return { type: "SOLID", colors: [color], stops: [], direction: "" } as const;
}
