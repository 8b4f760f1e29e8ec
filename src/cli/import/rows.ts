import type { DescMessage } from "@bufbuild/protobuf";
import type { JsonObject } from "../operations/flag-values.ts";
import { UsageError } from "../outcome.ts";
import { type CellFault, type Columns, directoryColumn, readColumns } from "./columns.ts";
import { type CsvRow, readCsvRows } from "./csv-rows.ts";
import type { FindDirectory } from "./directories.ts";
import type { CheckRow } from "./row-checks.ts";

/** A row that was read and checked. */
export interface ImportRow {
  /** The number of the row in the file, which begins with 1 after the columns' names. */
  readonly number: number;
  /** The line of the file on which the row begins. */
  readonly line: number;
  /** How many bytes of the file end with this row. */
  readonly bytes: number;
  /** The request for the link. */
  readonly request: JsonObject;
  readonly faults: readonly CellFault[];
}

export interface ImportFile {
  readonly columns: Columns;
  readonly rows: AsyncIterable<ImportRow>;
}

export interface RowRules {
  /** The message of the request for a link. */
  readonly schema: DescMessage;
  readonly check: CheckRow;
  readonly findDirectory: FindDirectory;
  /** Rows on earlier lines are left out. */
  readonly fromLine: number;
}

/** Opens a file: reads the names of its columns, and its rows one by one. Throws a UsageError. */
export async function openImport(bytes: AsyncIterable<Uint8Array>, rules: RowRules): Promise<ImportFile> {
  const rows = readCsvRows(bytes);
  const first = await rows.next();
  if (first.done)
    throw new UsageError("the file is empty: its first row must name the columns", "links import");
  const columns = readColumns(rules.schema, first.value.cells);
  return { columns, rows: checkedRows(rows, columns, rules) };
}

async function* checkedRows(
  rows: AsyncIterable<CsvRow>,
  columns: Columns,
  rules: RowRules,
): AsyncGenerator<ImportRow> {
  let number = 0;
  for await (const row of rows) {
    number += 1;
    if (row.line < rules.fromLine) continue;
    yield { number, line: row.line, bytes: row.bytes, ...(await readRow(row, columns, rules)) };
  }
}

async function readRow(
  { cells }: CsvRow,
  columns: Columns,
  { check, findDirectory }: RowRules,
): Promise<Pick<ImportRow, "request" | "faults">> {
  const { request, directory, faults } = columns.read(cells);
  const directoryId = directory === "" ? undefined : await findDirectory(directory);
  const missing =
    directory !== "" && directoryId === undefined
      ? [{ column: directoryColumn, description: `there is no directory ${JSON.stringify(directory)}` }]
      : [];
  const whole = directoryId === undefined ? request : { ...request, directoryId };
  const broken = check(whole).map(({ field, description }) => ({
    column: columns.columnOf(field),
    description,
  }));
  // A cell that could not be read leaves its field empty, which may break a rule that nobody needs to hear about.
  const unread = new Set(faults.map(({ column }) => column));
  return {
    request: whole,
    faults: [...faults, ...missing, ...broken.filter(({ column }) => !unread.has(column))],
  };
}
