import type { Chart, ChartRow } from "./chart.ts";
import { seriesMax } from "./colors.ts";
import { sumOf } from "./numbers.ts";
import { oneLine } from "./text.ts";

/** Numbers of equal meaning, one for each key of the table. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  /** Whether it is the sum of those that have no place of their own. */
  readonly isRest: boolean;
}

/** The rows of a chart as series over the same keys. */
export interface Table {
  /** Labels, which may be equal; empty for times. */
  readonly labels: readonly string[];
  /** Beginnings of intervals in order; empty for labels. */
  readonly times: readonly Date[];
  readonly series: readonly Series[];
}

/** A row that has a number. */
export type CountedRow = ChartRow & { readonly value: number };

/** Rows with a number, in their order. Any other number than a finite one is none. */
export function countedRows({ rows }: Pick<Chart, "rows">): CountedRow[] {
  return rows.filter(isCounted);
}

export function isCounted(row: ChartRow): row is CountedRow {
  return row.value !== undefined && Number.isFinite(row.value);
}

/** Lays rows out as a table. Numbers of equal keys are added up. */
export function tableOf(chart: Chart): Table {
  const rows = countedRows(chart);
  const isTime = rows.length > 0 && rows.every(({ at }) => at !== undefined);
  const keyOf = ({ at, label }: ChartRow) => (isTime ? (at?.getTime() ?? 0) : label);
  const keys = [...new Set(rows.map(keyOf))];
  if (isTime) keys.sort((one, other) => Number(one) - Number(other));
  const places = new Map(keys.map((key, index) => [key, index]));
  const placeOf = (row: ChartRow) => places.get(keyOf(row)) ?? 0;
  return {
    labels: isTime ? [] : keys.map((key) => oneLine(String(key))),
    times: isTime ? keys.map((key) => new Date(Number(key))) : [],
    series: seriesOf(chart, rows, keys.length, placeOf),
  };
}

type PlaceOf = (row: ChartRow) => number;

/** The two values as two series, or else one series for each category. */
function seriesOf(
  { valueName, value2Name }: Chart,
  rows: readonly CountedRow[],
  length: number,
  placeOf: PlaceOf,
): Series[] {
  const isDouble = rows.some(({ value2 }) => value2 !== undefined);
  const sums = new Map<string, number[]>();
  const add = (name: string, row: ChartRow, value: number) => {
    const known = sums.get(name) ?? new Array<number>(length).fill(0);
    const place = placeOf(row);
    known[place] = (known[place] ?? 0) + (Number.isFinite(value) ? value : 0);
    sums.set(name, known);
  };
  for (const row of rows) {
    add(isDouble ? valueName : row.category, row, row.value);
    if (isDouble) add(value2Name, row, row.value2 ?? 0);
  }
  const nameless = sums.size === 1 ? oneLine(valueName) : "Unknown";
  const named = ([name, values]: [string, number[]]) => {
    return { name: oneLine(name) || nameless, values, isRest: false };
  };
  return withOther([...sums].map(named));
}

/** More series than there are colors are summed up, the largest ones excepted. */
function withOther(all: readonly Series[]): Series[] {
  if (all.length <= seriesMax) return [...all];
  const sized = all.map((series) => ({ series, size: sumOf(series.values) }));
  const ranked = sized.sort((one, other) => other.size - one.size).map(({ series }) => series);
  const small = ranked.splice(seriesMax - 1);
  const values = new Array<number>(all[0]?.values.length ?? 0).fill(0);
  for (const each of small)
    for (const [index, value] of each.values.entries()) values[index] = (values[index] ?? 0) + value;
  return [...ranked, { name: `Other (${small.length})`, values, isRest: true }];
}

/** Rows that fit; the last one is the sum of those that do not. */
export function withRest(rows: readonly CountedRow[], places: number): CountedRow[] {
  if (rows.length <= places) return [...rows];
  const small = rows.slice(places - 1);
  return [
    ...rows.slice(0, places - 1),
    {
      label: `Other (${small.length})`,
      value: sumOf(small.map(({ value }) => value)),
      value2: undefined,
      at: undefined,
      category: "",
    },
  ];
}
