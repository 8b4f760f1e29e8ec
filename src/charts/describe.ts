import type { Chart } from "./chart.ts";
import { fullNumber } from "./numbers.ts";
import { nameOf } from "./plain.ts";
import { fitted, oneLine } from "./text.ts";

const kinds: Readonly<Record<Chart["type"], string>> = {
  bar: "Bar chart",
  horizontal_bar: "Bar chart",
  line: "Line chart",
  area: "Area chart",
  stacked_area: "Stacked area chart",
  pie: "Pie chart",
  number: "Number",
  list: "List",
  funnel: "Funnel",
};

const rowsTold = 12;

/** The picture in words, for those who do not see it: its kind, its range and the first rows. */
export function description({ type, subtitle, rows, timezone }: Chart): string {
  const head = [kinds[type], oneLine(subtitle)].filter(Boolean).join(", ");
  if (rows.length === 0) return `${head}. No data.`;
  const told = rows.slice(0, rowsTold).map((row) => {
    const name = fitted(nameOf(row, timezone), 400, 10);
    const values = [row.value, row.value2].filter((value) => value !== undefined).map(fullNumber);
    return values.length === 0 ? name : `${name}: ${values.join(", ")}`;
  });
  const more = rows.length > rowsTold ? `; and ${fullNumber(rows.length - rowsTold)} more` : "";
  return `${head}. ${told.join("; ")}${more}.`;
}
