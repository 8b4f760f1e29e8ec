import { nice, ticks as ticksOf } from "d3-array";
import type { Box } from "./chart.ts";
import type { Colors } from "./colors.ts";
import { labelSize } from "./frame.ts";
import { shortNumber } from "./numbers.ts";
import { element, line, middleOf } from "./svg.ts";
import type { Table } from "./table.ts";
import { fitted } from "./text.ts";
import { textWidth } from "./text-widths.ts";
import { type Tick, timeTicks } from "./time-ticks.ts";

/** Two axes: the box between them, the scale of the values, and what is drawn under the values. */
export interface Axes {
  readonly plot: Box;
  readonly y: (value: number) => number;
  readonly markup: string;
}

const bottomHeight = 22;
/** The least distance of two labels. */
const apart = 8;
/** No label with its distance is narrower. */
const narrowest = 10;

/** The place of each key's middle, from the left end of the plot, and how wide a key is. */
export interface Keys {
  readonly middle: (index: number, plotWidth: number) => number;
  readonly step: (plotWidth: number) => number;
}

export function axesOf(
  table: Table,
  keys: Keys,
  given: { readonly body: Box; readonly colors: Colors; readonly timezone: string; readonly extent: Extent },
): Axes {
  const { body, colors, timezone, extent } = given;
  const top = body.y + labelSize / 2;
  const bottom = Math.max(top + 1, body.y + body.height - bottomHeight);
  const wanted = Math.max(2, Math.min(6, Math.floor((bottom - top) / 40)));
  const [least, greatest] = nice(extent.least, extent.greatest, wanted);
  const y = (value: number) => bottom - ((value - least) / (greatest - least)) * (bottom - top);
  const every = ticksOf(least, greatest, wanted);
  const ticks = thinned(extent.isWhole ? every.filter(Number.isInteger) : every, bottom - top);
  const texts = ticks.map(shortNumber);
  const left = body.x + Math.max(...texts.map((text) => textWidth(text, labelSize))) + 8;
  const plot = { x: left, y: top, width: body.x + body.width - left, height: bottom - top };
  const rules = ticks.map((tick, index) => {
    const stroke = tick === 0 ? colors.quiet : colors.grid;
    const at = { x1: left, x2: left + plot.width, y1: y(tick), y2: y(tick) };
    const text = { x: left - 8, y: middleOf(y(tick), 0, labelSize), size: labelSize, fill: colors.quiet };
    return element("line", { ...at, stroke }) + line(texts[index] ?? "", { ...text, anchor: "end" });
  });
  const below = bottomLabels(table, keys, plot, timezone);
  const labels = below.map(({ x, text }) => {
    const style = { x, y: bottom + 16, size: labelSize, fill: colors.quiet, anchor: "middle" } as const;
    return line(text, style);
  });
  return { plot, y, markup: rules.join("") + labels.join("") };
}

/** All ticks, or only the outermost ones where all have no room. */
function thinned(ticks: readonly number[], height: number): readonly number[] {
  const isCrowded = height / Math.max(1, ticks.length - 1) < labelSize + 4;
  return isCrowded ? ticks.filter((_, index) => index === 0 || index === ticks.length - 1) : ticks;
}

/** The least and the greatest value to show, zero included, and whether all values are whole. */
export interface Extent {
  readonly least: number;
  readonly greatest: number;
  readonly isWhole: boolean;
}

export function extentOf(values: Iterable<number>): Extent {
  let [least, greatest, isWhole] = [0, 0, true];
  for (const value of values) {
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
    isWhole &&= Number.isInteger(value);
  }
  // Without any other value than zero the axis shows one.
  return { least, greatest: least === 0 && greatest === 0 ? 1 : greatest, isWhole };
}

interface Placed {
  readonly x: number;
  readonly text: string;
}

function bottomLabels(table: Table, keys: Keys, plot: Box, timezone: string): readonly Placed[] {
  const step = keys.step(plot.width);
  const place = ({ index, text }: Tick): Placed => {
    const half = textWidth(text, labelSize) / 2;
    const x = plot.x + keys.middle(index, plot.width);
    // A label at the edge moves inwards.
    return { x: Math.max(plot.x - 8 + half, Math.min(plot.x + plot.width - half, x)), text };
  };
  if (table.labels.length === 0) {
    const fits = (ticks: readonly Tick[]) => areApart(ticks.map(place));
    return timeTicks(table.times, timezone, plot.width / narrowest, fits).map(place);
  }
  const all = table.labels.map((text, index) => ({ index, text }));
  const whole = step < narrowest ? [] : all.map(place);
  if (whole.length > 0 && areApart(whole)) return whole;
  // Labels are cut where enough of them is left to be read; else some are left out.
  const readableWidth = 44;
  const every = step >= readableWidth ? 1 : Math.ceil(readableWidth / step);
  const cut = all
    .filter(({ index }) => index % every === 0)
    .map(({ index, text }) => place({ index, text: fitted(text, step * every - apart, labelSize) }));
  const kept: Placed[] = [];
  // A label that moved inwards may take the place of its neighbor.
  for (const label of cut) {
    const last = kept.at(-1);
    if (label.text !== "" && areApart(last === undefined ? [label] : [last, label])) kept.push(label);
  }
  return kept;
}

/** Whether labels in a row have some distance from each other. */
export function areApart(labels: readonly Placed[]): boolean {
  return labels.every(({ x, text }, index) => {
    const before = labels[index - 1];
    if (before === undefined) return true;
    const halves = (textWidth(text, labelSize) + textWidth(before.text, labelSize)) / 2;
    return x - before.x >= halves + apart;
  });
}
