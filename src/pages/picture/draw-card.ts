import type { Color } from "../../lib/color.ts";
import type { PageTheme, Paint } from "../../model/look/page-theme.ts";
import { paletteOf } from "../../model/look/palette.ts";
import { type Glyph, glyphPath } from "../icons.ts";
import { type Area, colorAttributes, filled, rounded } from "./paints.ts";

/** The size of a card in pixels, in the proportions in which chats and social networks show it. */
export const card = { width: 1200, height: 630 } as const;

const badgeSide = 168;
const button = { width: 420, height: 124 } as const;
const gap = 52;

/**
 * Draws the card of a link whose theme has no image, as an SVG: the colors of its page, its badge, and a button that leads
 * on. It has no words, because a chat shows them beside it, in fonts that know every script.
 */
export function drawCard(theme: PageTheme): string {
  const { canvas, element, box, colors } = paletteOf(theme, false);
  const isSquare = theme.container?.variant === "SQUARE";
  const [badgeHeight, above] = theme.badge === undefined ? [0, 0] : [badgeSide, gap];
  const height = badgeHeight + above + button.height;
  const top = (card.height - height) / 2;
  const badgeRadius = { CIRCLE: badgeSide / 2, ROUNDED: 38, SQUARE: 0 }[theme.badge?.shape ?? "CIRCLE"];
  const badge =
    theme.badge === undefined
      ? ""
      : sign("badge", solid(colors.tint), {
          area: middle(badgeSide, badgeSide, top),
          radius: badgeRadius,
          glyph: "signpost",
          ink: colors.badgeInk,
        });
  const onwards = sign("element", element, {
    area: middle(button.width, button.height, top + badgeHeight + above),
    radius: isSquare ? 0 : 34,
    glyph: "arrow",
    ink: colors.onElement,
  });
  const boxed =
    box.background === undefined
      ? ""
      : filled("box", solid(box.background), middle(660, height + 144, top - 72), isSquare ? 0 : 48);
  const ground = filled("canvas", canvas, { x: 0, y: 0, ...card });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${card.width} ${card.height}" width="${card.width}" height="${card.height}">${ground}${boxed}${badge}${onwards}</svg>`;
}

function middle(width: number, height: number, y: number): Area {
  return { x: (card.width - width) / 2, y, width, height };
}

interface Sign {
  readonly area: Area;
  readonly radius: number;
  readonly glyph: Glyph;
  readonly ink: Color;
}

/** A glyph in the middle of a filled area, half as high. */
function sign(id: string, paint: Paint, { area, radius, glyph, ink }: Sign): string {
  const side = area.height / 2;
  const place = `translate(${rounded(area.x + (area.width - side) / 2)} ${rounded(area.y + side / 2)}) scale(${rounded(side / 24)})`;
  const lines = `fill="none" ${colorAttributes("stroke", ink)} stroke-width="2" stroke-linecap="round" stroke-linejoin="round"`;
  return `${filled(id, paint, area, radius)}<path transform="${place}" ${lines} d="${glyphPath(glyph)}"/>`;
}

function solid(color: Color): Paint {
  return { type: "SOLID", colors: [color], stops: [], direction: "" };
}
