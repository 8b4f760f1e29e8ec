import type { Box, Chart } from "./chart.ts";
import { type Colors, seriesColor } from "./colors.ts";
import { textSize } from "./frame.ts";
import { fullNumber, share, shortNumber } from "./numbers.ts";
import { widest } from "./side-bars.ts";
import { element, line, middleOf } from "./svg.ts";
import { countedRows } from "./table.ts";
import { fitted, oneLine } from "./text.ts";

const rowHeightMin = 24;
const rowHeightMax = 60;
const gap = 14;

/** Steps from the top down, each as wide as the part of the first one that reached it. */
export function funnel(chart: Chart, body: Box, colors: Colors): string {
  const rows = countedRows(chart);
  const places = Math.max(1, Math.floor(body.height / rowHeightMin));
  const steps = rows.length > places ? rows.slice(0, places - 1) : rows;
  const height = Math.min(rowHeightMax, body.height / (rows.length > places ? places : steps.length));
  const first = steps[0]?.value ?? 0;
  const greatest = Math.max(1, ...steps.map(({ value }) => value));
  const labels = steps.map(({ label }) => oneLine(label) || "Unknown");
  const written = body.width < 400 ? shortNumber : fullNumber;
  const numbers = steps.map(({ value }) => written(value));
  const shares = steps.map(({ value }) => share(value, first));
  const [forNumbers, forShares] = [widest(numbers), widest(shares)];
  const forLabels = Math.min(widest(labels), body.width * 0.32);
  const end = body.x + body.width;
  const left = body.x + forLabels + gap;
  const room = Math.max(8, end - forNumbers - forShares - 2 * gap - left);
  const middle = left + room / 2;
  const halves = steps.map(({ value }) => Math.max(1, (Math.max(0, value) / greatest) * (room / 2)));
  const parts = steps.map((_, index) => {
    const y = body.y + index * height;
    const style = { y: middleOf(y, height - 8, textSize), size: textSize };
    return [
      line(fitted(labels[index] ?? "", forLabels, textSize), { ...style, x: body.x, fill: colors.ink }),
      step(middle, y, { height: height - 8, half: halves[index] ?? 1, next: halves[index + 1] }, colors),
      line(numbers[index] ?? "", { ...style, x: end - forShares - gap, fill: colors.ink, anchor: "end" }),
      line(shares[index] ?? "", { ...style, x: end, fill: colors.quiet, anchor: "end" }),
    ].join("");
  });
  if (steps.length < rows.length) {
    const y = middleOf(body.y + steps.length * height, height - 8, textSize);
    const more = `and ${fullNumber(rows.length - steps.length)} more steps`;
    parts.push(
      line(fitted(more, body.width, textSize), { x: body.x, y, size: textSize, fill: colors.quiet }),
    );
  }
  return parts.join("");
}

interface Step {
  readonly height: number;
  readonly half: number;
  readonly next: number | undefined;
}

/** A step and the slope to the next one. */
function step(middle: number, y: number, { height, half, next }: Step, colors: Colors): string {
  const rect = { x: middle - half, y, width: 2 * half, height, rx: 2, fill: seriesColor(colors, 0) };
  if (next === undefined) return element("rect", rect);
  const [from, to] = [y + height, y + height + 8];
  const n = (value: number) => Math.round(value * 10) / 10;
  const slope = `M${n(middle - half)} ${n(from)}H${n(middle + half)}L${n(middle + next)} ${n(to)}H${n(middle - next)}Z`;
  return (
    element("rect", rect) + element("path", { d: slope, fill: seriesColor(colors, 0), "fill-opacity": 0.25 })
  );
}
