import type { VisitColumns, Way } from "../../../src/analytics/segments/columns.ts";

/** A visit of columns. */
export interface ColumnRow {
  readonly atMs: number;
  readonly link: string;
  readonly visitor: number;
  readonly device: number;
  readonly visitType: string;
  readonly deviceType: string;
  readonly country: string;
  readonly city: string;
  readonly browser: string;
  readonly platform: string;
  readonly isCompleted: boolean;
  readonly score: number;
  readonly way: Way;
}

/** The visits of columns whose span begins at `begin`, one by one. */
export function rowsOf(columns: VisitColumns, begin: Date): ColumnRow[] {
  const { times, visitors, devices, completed, scores } = columns;
  const text = ({ values, codes }: VisitColumns["country"], row: number) =>
    values[codes[row] ?? -1] ?? "none";
  return Array.from(times, (time, row) => ({
    atMs: begin.getTime() + time,
    link: text(columns.links, row),
    visitor: visitors[row] ?? -1,
    device: devices[row] ?? -1,
    visitType: text(columns.visitType, row),
    deviceType: text(columns.deviceType, row),
    country: text(columns.country, row),
    city: text(columns.city, row),
    browser: text(columns.browser, row),
    platform: text(columns.platform, row),
    isCompleted: completed[row] === 1,
    score: scores[row] ?? -1,
    way: JSON.parse(text(columns.ways, row)),
  }));
}
