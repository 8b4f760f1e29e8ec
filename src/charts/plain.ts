import type { Box, Chart, ChartRow } from "./chart.ts";
import type { Colors } from "./colors.ts";
import { textSize } from "./frame.ts";
import { fullNumber, shortNumber, sumOf } from "./numbers.ts";
import { secondText, widest } from "./side-bars.ts";
import { element, line, middleOf } from "./svg.ts";
import { countedRows } from "./table.ts";
import { fitted, oneLine } from "./text.ts";
import { textWidth } from "./text-widths.ts";
import { fullTime } from "./time-ticks.ts";

/** One large number: that of the only row, or the sum of all. */
export function number(chart: Chart, body: Box, colors: Colors): string {
  const rows = countedRows(chart);
  const sum = sumOf(rows.map(({ value }) => value));
  const [only] = rows;
  const second = rows.length === 1 ? secondText(only?.value2) : "";
  const below = [oneLine(chart.valueName), second && `${oneLine(chart.value2Name)}: ${second}`].filter(
    Boolean,
  );
  const size = Math.max(16, Math.min(72, body.height - 24 * below.length));
  const texts = [fullNumber(sum), shortNumber(sum)];
  const text = texts.find((each) => textWidth(each, size, true) <= body.width) ?? shortNumber(sum);
  const smaller = Math.min(size, (size * body.width) / textWidth(text, size, true));
  const top = body.y + (body.height - smaller - 22 * below.length) / 2;
  const style = { x: body.x, size: smaller, fill: colors.ink, isBold: true };
  return [
    line(text, { ...style, y: top + smaller * 0.76 }),
    ...below.map((each, index) => {
      const y = top + smaller * 0.95 + 22 * (index + 0.8);
      return line(fitted(each, body.width, 14), { x: body.x, y, size: 14, fill: colors.quiet });
    }),
  ].join("");
}

const rowHeight = 27;

/** Rows as lines of text. How many have no room is said. */
export function list(chart: Chart, body: Box, colors: Colors): string {
  const places = Math.max(1, Math.floor(body.height / rowHeight));
  const { rows } = chart;
  const shown = rows.length > places ? rows.slice(0, places - 1) : rows;
  const ends = shown.map((row) =>
    [secondText(row.value2), secondText(row.value)].filter(Boolean).join("  ·  "),
  );
  const forEnds = Math.min(widest(ends), body.width * 0.5);
  const room = body.width - (forEnds > 0 ? forEnds + 16 : 0);
  const parts = shown.map((row, index) => {
    const y = body.y + index * rowHeight;
    const style = { y: middleOf(y, rowHeight, textSize), size: textSize };
    const rule = { x1: body.x, x2: body.x + body.width, y1: y + rowHeight, y2: y + rowHeight };
    return [
      line(fitted(nameOf(row, chart.timezone), room, textSize), { ...style, x: body.x, fill: colors.ink }),
      line(fitted(ends[index] ?? "", forEnds, textSize), {
        ...style,
        x: body.x + body.width,
        fill: colors.ink,
        anchor: "end",
      }),
      element("line", { ...rule, stroke: colors.grid }),
    ].join("");
  });
  if (shown.length < rows.length) {
    const y = middleOf(body.y + shown.length * rowHeight, rowHeight, textSize);
    const more = `and ${fullNumber(rows.length - shown.length)} more`;
    parts.push(
      line(fitted(more, body.width, textSize), { x: body.x, y, size: textSize, fill: colors.quiet }),
    );
  }
  return parts.join("");
}

/** What a row is about: its label, its moment, or both. */
export function nameOf({ label, at, category }: ChartRow, timezone: string): string {
  const parts = [oneLine(label), at && fullTime(at, timezone), oneLine(category)].filter(Boolean);
  return parts.length === 0 ? "Unknown" : parts.join("  ·  ");
}
