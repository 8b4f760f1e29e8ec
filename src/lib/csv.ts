import { stringify } from "csv-stringify/sync";

/** A cell; undefined is an empty one. */
export type CsvCell = string | number | boolean | undefined;

/**
 * A table as CSV text (RFC 4180): CRLF, a header row, quotes only where they are needed. Texts that a spreadsheet would
 * run as a formula get a leading `'`: those that begin with `=` or `@`, or with `+` or `-` and anything but a number.
 */
export function writeCsv(header: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  const cells = rows.map((row) => row.map(cellText));
  // A lone CR or LF is no record delimiter to the writer, but is one to readers.
  return stringify([[...header], ...cells], { record_delimiter: "\r\n", quoted_match: /[\r\n]/ });
}

function cellText(cell: CsvCell): string {
  if (typeof cell === "string") return /^(?:[=@]|[+-](?!\d+(?:\.\d+)?$))/.test(cell) ? `'${cell}` : cell;
  return cell === undefined ? "" : String(cell);
}
