import { bars } from "./bars.ts";
import type { Box, Chart, ChartType, Look } from "./chart.ts";
import { type Colors, colorsOf } from "./colors.ts";
import { description } from "./describe.ts";
import { frameOf, nothing } from "./frame.ts";
import { funnel } from "./funnel.ts";
import { lines } from "./lines.ts";
import { pie } from "./pie.ts";
import { list, number } from "./plain.ts";
import { sideBars } from "./side-bars.ts";
import { element, escaped } from "./svg.ts";
import { isCounted } from "./table.ts";
import { oneLine } from "./text.ts";

type Draw = (chart: Chart, body: Box, colors: Colors) => string;

const drawers: Readonly<Record<ChartType, Draw>> = {
  bar: bars,
  horizontal_bar: sideBars,
  line: lines,
  area: lines,
  stacked_area: lines,
  pie,
  number,
  list,
  funnel,
};

/**
 * Draws a chart as SVG: shapes and lines of text, no style sheet, no script and no reference. Texts of the rows may be
 * anything. They are written in the reader's font; the widths are those of Inter.
 */
export function drawChart(chart: Chart, look: Look): string {
  const colors = colorsOf(look);
  const { markup, body } = frameOf(chart, look, colors);
  const draw = drawers[chart.type];
  const content = isEmpty(chart) ? nothing(body, colors) : draw(chart, body, colors);
  const { width, height, scale } = look;
  const attributes = {
    xmlns: "http://www.w3.org/2000/svg",
    width: width * scale,
    height: height * scale,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "font-family": 'Inter, system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  };
  const title = element("title", {}, escaped(oneLine(chart.title) || "Chart"));
  const words = element("desc", {}, escaped(description(chart)));
  return element("svg", attributes, title + words + markup + content);
}

/** Whether there is nothing to draw: no rows, no numbers, or no part of a whole. */
function isEmpty({ type, rows }: Chart): boolean {
  if (type === "list") return rows.length === 0;
  const isPart = type === "pie" || type === "funnel";
  return !rows.some((row) => isCounted(row) && (!isPart || row.value > 0));
}
