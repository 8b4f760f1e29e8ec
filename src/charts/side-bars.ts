import type { Box, Chart } from "./chart.ts";
import { type Colors, seriesColor } from "./colors.ts";
import { textSize } from "./frame.ts";
import { fullNumber, shortNumber } from "./numbers.ts";
import { element, line, middleOf } from "./svg.ts";
import { type CountedRow, countedRows, withRest } from "./table.ts";
import { fitted, oneLine } from "./text.ts";
import { textWidth } from "./text-widths.ts";

const rowHeightMin = 22;
const rowHeightMax = 34;
const gap = 12;

/** How many bars have room one below the other. */
export function sidePlaces({ height }: Box): number {
  return Math.max(1, Math.floor(height / rowHeightMin));
}

/** Bars that lie, the label on the left and the number on the right. What has no room is summed up in the last one. */
export function sideBars(chart: Chart, body: Box, colors: Colors): string {
  const rows = withRest(countedRows(chart), sidePlaces(body));
  const height = Math.min(rowHeightMax, body.height / rows.length);
  // A narrow picture has room for one short number.
  const isNarrow = body.width < 400;
  const texts = rows.map(({ value }) => (isNarrow ? shortNumber(value) : fullNumber(value)));
  const seconds = rows.map(({ value2 }) => (isNarrow ? "" : secondText(value2)));
  const labels = rows.map(({ label }) => oneLine(label) || "Unknown");
  const [forNumbers, forSeconds] = [widest(texts), widest(seconds)];
  const forEnd = forNumbers + (forSeconds > 0 ? forSeconds + gap : 0);
  const forLabels = Math.min(widest(labels), body.width * 0.38);
  const left = body.x + forLabels + gap;
  const room = Math.max(1, body.x + body.width - forEnd - gap - left);
  const greatest = Math.max(...rows.map(({ value }) => Math.abs(value))) || 1;
  const end = body.x + body.width;
  return rows
    .map((row, index) => {
      const y = body.y + index * height;
      const style = { y: middleOf(y, height, textSize), size: textSize };
      const thick = Math.min(16, height - 8);
      const place = { x: left, y: y + (height - thick) / 2, height: thick, rx: 3 };
      const width = (Math.abs(row.value) / greatest) * room;
      return [
        line(fitted(labels[index] ?? "", forLabels, textSize), { ...style, x: body.x, fill: colors.ink }),
        element("rect", { ...place, width: room, fill: colors.track }),
        width > 0 ? element("rect", { ...place, width: Math.max(2, width), fill: fillOf(row, colors) }) : "",
        line(texts[index] ?? "", {
          ...style,
          x: forSeconds > 0 ? end - forSeconds - gap : end,
          fill: colors.ink,
          anchor: "end",
        }),
        line(seconds[index] ?? "", { ...style, x: end, fill: colors.quiet, anchor: "end" }),
      ].join("");
    })
    .join("");
}

export function secondText(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? "" : fullNumber(value);
}

export function widest(texts: readonly string[]): number {
  return Math.ceil(texts.reduce((width, text) => Math.max(width, textWidth(text, textSize)), 0));
}

/** A bar to the left of zero has the color of what is left over. */
function fillOf({ value }: CountedRow, colors: Colors): string {
  return value < 0 ? colors.rest : seriesColor(colors, 0);
}
