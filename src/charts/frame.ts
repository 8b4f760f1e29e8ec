import type { Box, Chart, Look } from "./chart.ts";
import type { Colors } from "./colors.ts";
import { element, line, middleOf } from "./svg.ts";
import { fitted, oneLine } from "./text.ts";
import { textWidth } from "./text-widths.ts";

const padding = 20;

export const labelSize = 11;
export const textSize = 13;

/** What stands around every chart, and the box that is left for it. */
export interface Frame {
  readonly markup: string;
  readonly body: Box;
}

export function frameOf({ title, subtitle }: Chart, { width, height }: Look, colors: Colors): Frame {
  const across = width - 2 * padding;
  const parts = [element("rect", { width, height, fill: colors.ground })];
  let top = padding;
  const heading = fitted(oneLine(title), across, 16, true);
  if (heading !== "") {
    parts.push(line(heading, { x: padding, y: top + 14, size: 16, fill: colors.ink, isBold: true }));
    top += 22;
  }
  const below = height >= 220 ? fitted(oneLine(subtitle), across, 12) : "";
  if (below !== "") {
    parts.push(line(below, { x: padding, y: top + 12, size: 12, fill: colors.quiet }));
    top += 18;
  }
  const gap = top > padding ? 10 : 0;
  const body = { x: padding, y: top + gap, width: across, height: height - top - gap - padding };
  return { markup: parts.join(""), body };
}

export interface LegendEntry {
  readonly name: string;
  readonly color: string;
}

const swatch = 10;
const entryHeight = 18;
const entryGap = 14;

/** Names of series with their colors, in as many lines as they need, and the box below them. */
export function legend(entries: readonly LegendEntry[], body: Box, colors: Colors): Frame {
  const places: string[] = [];
  let [x, y] = [body.x, body.y];
  // At most three in a line are cut, so that six take two lines.
  const widest = Math.min(180, body.width / 3 - swatch - 6 - entryGap);
  for (const { name, color } of entries) {
    const text = fitted(name, Math.max(widest, 60), 12);
    const width = swatch + 6 + textWidth(text, 12);
    if (x > body.x && x + width > body.x + body.width) [x, y] = [body.x, y + entryHeight];
    places.push(dot(x, y + (entryHeight - swatch) / 2, color));
    places.push(
      line(text, { x: x + swatch + 6, y: middleOf(y, entryHeight, 12), size: 12, fill: colors.ink }),
    );
    x += width + entryGap;
  }
  const bottom = y + entryHeight + 8;
  return {
    markup: places.join(""),
    body: { ...body, y: bottom, height: body.y + body.height - bottom },
  };
}

function dot(x: number, y: number, fill: string): string {
  return element("rect", { x, y, width: swatch, height: swatch, rx: 2, fill });
}

/** What a chart without numbers shows. */
export function nothing({ x, y, width, height }: Box, colors: Colors): string {
  const text = fitted("No data in this range", width, textSize);
  const middle = { x: x + width / 2, y: middleOf(y, height, textSize) };
  return line(text, { ...middle, size: textSize, fill: colors.quiet, anchor: "middle" });
}
