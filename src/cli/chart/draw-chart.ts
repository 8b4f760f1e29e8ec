import type { JsonObject } from "../operations/flag-values.ts";
import { printable } from "../outcome.ts";
import { cutTo, textWidth } from "../table.ts";
import { barOf, columnIn, type Ink } from "./ink.ts";
import { type Numbers, nameOf, numberIn, type Plot, rowsIn, textIn } from "./plot.ts";

const labelMax = 32;
const columnHeight = 8;
const narrowest = 20;

/** Draws the rows of an answer in lines of at most `width` characters: bars for names, columns for moments. */
export function drawChart(plot: Plot, json: JsonObject, width: number, ink: Ink): string[] {
  const rows = rowsIn(plot, json);
  if (rows.length === 0) return ["no numbers in this range"];
  const room = Math.max(narrowest, width);
  if (plot.points !== undefined) return seriesLines(plot, plot.points, rows, room, ink);
  if (plot.time === undefined) return barLines(plot, rows, room, ink);
  const { time } = plot;
  const moments = rows.map((row) => textIn(time, row));
  return plot.values.flatMap((field, index) => {
    const values = rows.map((row) => numberIn(field, row));
    const lines = columnLines({ name: nameOf(field), values }, moments, room, ink);
    return index === 0 ? lines : ["", ...lines];
  });
}

/** One line for each row: its name, a bar, the number, and the share where there is one. */
function barLines(plot: Plot, rows: readonly JsonObject[], width: number, ink: Ink): string[] {
  const [value] = plot.values;
  const labels = rows.map((row) => cutTo(labelOf(plot, row), Math.min(labelMax, Math.floor(width / 3))));
  const numbers = rows.map((row) => numberIn(value, row));
  const texts = padded(numbers.map(format), "left");
  const shares = padded(
    rows.map((row) => shareOf(plot, row)),
    "left",
  );
  const names = padded(labels, "right");
  const taken = textWidth(names[0] ?? "") + textWidth(texts[0] ?? "") + textWidth(shares[0] ?? "") + 6;
  const room = Math.max(1, width - taken);
  const greatest = Math.max(1, ...numbers);
  return rows.map((_, index) => {
    const bar = barOf((Math.max(0, numbers[index] ?? 0) / greatest) * room, ink);
    const gap = " ".repeat(room - textWidth(bar));
    return `${names[index]}  ${ink.paint(bar)}${gap}  ${texts[index]}  ${shares[index]}`.trimEnd();
  });
}

function labelOf({ label }: Plot, row: JsonObject): string {
  return printable(textIn(label, row)).trim() || "unknown";
}

function shareOf({ share }: Plot, row: JsonObject): string {
  return share === undefined ? "" : `${(Number(row[share.jsonName]) || 0).toFixed(1)}%`;
}

/** Columns over time, eight lines high, with the greatest number and the ends of the range. */
function columnLines(
  { name, values }: Numbers,
  moments: readonly string[],
  width: number,
  ink: Ink,
): string[] {
  const [first = "", last = ""] = [moments[0], moments.at(-1)].map((text = "") => printable(text));
  const sums = inColumns(values, width);
  const greatest = Math.max(1, ...sums);
  // Few columns are drawn wider.
  const wide = Math.max(1, Math.min(4, Math.floor(width / sums.length)));
  const lines = Array.from({ length: columnHeight }, (_, index) => {
    const line = columnHeight - 1 - index;
    const parts = sums.map((sum) => columnIn((Math.max(0, sum) / greatest) * columnHeight, line, ink));
    return ink.paint(
      parts
        .map((part) => part.repeat(wide))
        .join("")
        .trimEnd(),
    );
  });
  const each = Math.ceil(values.length / sums.length);
  const joined = each > 1 ? `; each column is ${each} intervals` : "";
  const total = values.reduce((sum, value) => sum + value, 0);
  const across = sums.length * wide;
  const gap = across - first.length - last.length;
  const ends = gap > 0 ? `${first}${" ".repeat(gap)}${last}` : `${first} to ${last}`;
  const head = `${name}: ${format(total)} in all, at most ${format(greatest)}${joined}`;
  return [head, ...lines, ink.rule.repeat(across), ends];
}

/** As many sums of neighbors as there is room for. */
function inColumns(values: readonly number[], width: number): number[] {
  const each = Math.ceil(values.length / width);
  const sums = new Array<number>(Math.ceil(values.length / each)).fill(0);
  for (const [index, value] of values.entries()) {
    const place = Math.floor(index / each);
    sums[place] = (sums[place] ?? 0) + value;
  }
  return sums;
}

/** One line for each series: its name, its course over time, and its sum. */
function seriesLines(
  plot: Plot,
  points: Plot,
  rows: readonly JsonObject[],
  width: number,
  ink: Ink,
): string[] {
  const [value] = points.values;
  const courses = rows.map((row) => rowsIn(points, row).map((point) => numberIn(value, point)));
  const totals = padded(
    courses.map((values) => format(values.reduce((sum, each) => sum + each, 0))),
    "left",
  );
  const labels = rows.map((row) => cutTo(labelOf(plot, row), Math.min(labelMax, Math.floor(width / 3))));
  const names = padded(labels, "right");
  const room = Math.max(1, width - textWidth(names[0] ?? "") - textWidth(totals[0] ?? "") - 4);
  const sums = courses.map((values) => inColumns(values, room));
  const greatest = Math.max(1, ...sums.flat());
  return rows.map((_, index) => {
    const course = (sums[index] ?? []).map((sum) => columnIn(sum / greatest, 0, ink)).join("");
    return `${names[index]}  ${ink.paint(course)}  ${totals[index]}`;
  });
}

function format(value: number): string {
  return value.toLocaleString("en-US");
}

/** Texts of one width. */
function padded(texts: readonly string[], side: "left" | "right"): string[] {
  const width = Math.max(0, ...texts.map(textWidth));
  return texts.map((text) => {
    const gap = " ".repeat(width - textWidth(text));
    return side === "left" ? gap + text : text + gap;
  });
}
