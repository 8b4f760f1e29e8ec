import { areApart, axesOf, extentOf, type Keys } from "./axes.ts";
import type { Box, Chart } from "./chart.ts";
import { type Colors, seriesColor } from "./colors.ts";
import { labelSize, legend } from "./frame.ts";
import { lines } from "./lines.ts";
import { fullNumber } from "./numbers.ts";
import { sideBars, sidePlaces } from "./side-bars.ts";
import { element, line, rounded } from "./svg.ts";
import { type Series, type Table, tableOf } from "./table.ts";
import { textWidth } from "./text-widths.ts";

/** Narrower bars would run into each other. */
const narrowest = 3;
const axisWidth = 40;

/**
 * Upright bars, those of several series side by side. More than have room are drawn as an area. Bars of one series whose
 * labels would have to be cut lie on their side, where a label has more room, unless they are too many for that.
 */
export function bars(chart: Chart, body: Box, colors: Colors): string {
  const table = tableOf(chart);
  const { series, times, labels } = table;
  const count = Math.max(times.length, labels.length);
  const room = (body.width - axisWidth) / count;
  const isCrowded = room < narrowest * series.length + 1;
  if (isCrowded && (times.length > 0 || series.length > 1))
    return lines({ ...chart, type: "area" }, body, colors);
  const isCut = () => !areApart(labels.map((text, index) => ({ x: index * room, text })));
  if (series.length === 1 && (isCrowded || (count <= sidePlaces(body) && isCut())))
    return sideBars(chart, body, colors);
  const bands = bandsOf(count, series.length);
  if (series.length === 1) return upright(table, bands, { chart, body, colors });
  const entries = series.map(({ name, isRest }, index) => ({ name, color: colorOf(colors, index, isRest) }));
  const key = legend(entries, body, colors);
  return key.markup + upright(table, bands, { chart, body: key.body, colors });
}

function colorOf(colors: Colors, index: number, isRest: boolean): string {
  return isRest ? colors.rest : seriesColor(colors, index);
}

/** Where the bars of a key stand: its middle, and the width of each of them. */
interface Bands extends Keys {
  readonly barWidth: (plotWidth: number) => number;
}

function bandsOf(count: number, series: number): Bands {
  const filled = count > 40 ? 0.85 : 0.7;
  const step = (width: number) => width / count;
  return {
    step,
    middle: (index, width) => (index + 0.5) * step(width),
    // A bar as wide as a door says no more than a slim one.
    barWidth: (width) => Math.min(72, (step(width) * filled) / series),
  };
}

interface Drawing {
  readonly chart: Chart;
  readonly body: Box;
  readonly colors: Colors;
}

function upright(table: Table, bands: Bands, { chart: { timezone }, body, colors }: Drawing): string {
  const { series } = table;
  const [only] = series;
  const step = bands.step(body.width - axisWidth);
  const texts = series.length === 1 && only !== undefined ? textsAbove(only, step) : [];
  const extent = extentOf(series.flatMap(({ values }) => values));
  const headroom = texts.length > 0 ? 1.07 : 1;
  const given = { body, colors, timezone, extent: { ...extent, greatest: extent.greatest * headroom } };
  const { plot, y, markup } = axesOf(table, bands, given);
  const width = bands.barWidth(plot.width);
  const middle = (index: number) => plot.x + bands.middle(index, plot.width);
  const drawn = series.map(({ values, isRest }, place) => {
    const rects = values.map((value, index) => {
      const left = middle(index) + (place - series.length / 2) * width;
      return bar(left, width * (series.length > 1 ? 0.92 : 1), y(0), y(value));
    });
    return element("path", { fill: colorOf(colors, place, isRest), d: rects.join("") });
  });
  const numbers = texts.map((text, index) => {
    const style = { x: middle(index), y: y(only?.values[index] ?? 0) - 5, size: labelSize } as const;
    return line(text, { ...style, fill: colors.ink, anchor: "middle" });
  });
  return markup + drawn.join("") + numbers.join("");
}

/** A bar as a path, its far end a little round. */
function bar(x: number, width: number, from: number, to: number): string {
  const height = from - to;
  if (height === 0) return "";
  const round = Math.min(3, width / 3, Math.abs(height));
  const turn = height > 0 ? round : -round;
  const corner = `${rounded(round)} ${rounded(round)} 0 0 ${height > 0 ? 1 : 0} ${rounded(round)}`;
  const top = `M${rounded(x)} ${rounded(from)}V${rounded(to + turn)}a${corner} ${rounded(-turn)}`;
  return `${top}H${rounded(x + width - round)}a${corner} ${rounded(turn)}V${rounded(from)}Z`;
}

/** The numbers themselves, to stand above the bars where all of them have room. */
function textsAbove({ values }: Series, step: number): string[] {
  if (values.length > 24 || values.some((value) => value < 0)) return [];
  const texts = values.map(fullNumber);
  return texts.every((text) => textWidth(text, labelSize) + 6 <= step) ? texts : [];
}
