import { area, line as lineOf } from "d3-shape";
import { type Axes, axesOf, extentOf, type Keys } from "./axes.ts";
import type { Box, Chart } from "./chart.ts";
import { type Colors, seriesColor } from "./colors.ts";
import { legend } from "./frame.ts";
import { element } from "./svg.ts";
import { type Series, type Table, tableOf } from "./table.ts";

/** A series with the values between which it is drawn. */
interface Ribbon extends Series {
  readonly color: string;
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** Lines over time or over labels; areas down to zero; or areas that stand on each other. */
export function lines(chart: Chart, body: Box, colors: Colors): string {
  const table = tableOf(chart);
  const isStacked = chart.type === "stacked_area";
  const ribbons = ribbonsOf(table, colors, isStacked);
  const key = ribbons.length === 1 ? { markup: "", body } : legend(ribbons, body, colors);
  const keys = keysOf(table);
  const extent = extentOf(ribbons.flatMap(({ to }) => to));
  const axes = axesOf(table, keys, { body: key.body, colors, timezone: chart.timezone, extent });
  const drawn = ribbons.map((ribbon) => draw(ribbon, { axes, keys, chart, colors }));
  return key.markup + axes.markup + drawn.join("");
}

function ribbonsOf({ series }: Table, colors: Colors, isStacked: boolean): Ribbon[] {
  let ground: readonly number[] = [];
  return series.map((each, index) => {
    const from = each.values.map((_, place) => (isStacked ? (ground[place] ?? 0) : 0));
    const to = each.values.map((value, place) => value + (from[place] ?? 0));
    ground = to;
    return { ...each, from, to, color: each.isRest ? colors.rest : seriesColor(colors, index) };
  });
}

/** Moments at their place in time, labels at equal distances. */
function keysOf({ times, labels }: Table): Keys {
  const count = Math.max(times.length, labels.length);
  const numbers = times.length > 0 ? times.map((at) => at.getTime()) : labels.map((_, index) => index);
  const [first = 0, last = first] = [numbers[0], numbers.at(-1)];
  return {
    step: (width) => width / Math.max(1, count - 1),
    middle: (index, width) => {
      if (count === 1) return width / 2;
      const inset = Math.min(12, width / 20);
      return inset + (((numbers[index] ?? first) - first) / (last - first)) * (width - 2 * inset);
    },
  };
}

interface Drawing {
  readonly axes: Axes;
  readonly keys: Keys;
  readonly chart: Chart;
  readonly colors: Colors;
}

function draw({ from, to, color }: Ribbon, { axes: { plot, y }, keys, chart, colors }: Drawing): string {
  const points = to.map((value, index) => ({
    x: plot.x + keys.middle(index, plot.width),
    top: y(value),
    bottom: y(from[index] ?? 0),
  }));
  const [only] = points;
  if (points.length === 1 && only !== undefined)
    return element("circle", { cx: only.x, cy: only.top, r: 4, fill: color });
  const across = (point: { readonly x: number }) => point.x;
  const upper = lineOf(across, ({ top }: (typeof points)[number]) => top).digits(1);
  const filled = area(
    across,
    ({ bottom }: (typeof points)[number]) => bottom,
    ({ top }) => top,
  ).digits(1);
  const stroke = { fill: "none", stroke: color, "stroke-width": 2, "stroke-linejoin": "round" };
  const edge = element("path", { ...stroke, d: upper(points) ?? "" });
  if (chart.type === "line") return edge;
  const surface = { fill: color, d: filled(points) ?? "" };
  // The ground shines through between areas that stand on each other.
  return chart.type === "stacked_area"
    ? element("path", { ...surface, stroke: colors.ground, "stroke-width": 1 })
    : element("path", { ...surface, "fill-opacity": 0.16 }) + edge;
}
