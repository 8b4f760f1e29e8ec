import { stringify } from "csv-stringify/sync";

/** A cell; undefined is an empty one. */
export type CsvCell = string | number | boolean | undefined;

/**
 * A table as CSV text (RFC 4180): CRLF, a header row, quotes where they are needed. Texts that a spreadsheet would run as a
 * formula get a `'`: before `=` and `@`, and before `+` and `-` with anything but a number, where a cell begins. Cells begin
 * for some readers also behind semicolons, tabs and line breaks, whatever quotes stand around them.
 */
export function writeCsv(header: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  const cells = rows.map((row) => row.map(cellText));
  // A lone CR or LF is no record delimiter to the writer, but is one to readers, and other separators are.
  return stringify([[...header], ...cells], { record_delimiter: "\r\n", quoted_match: /[\r\n\t;]/ });
}

/** Where a formula would begin; the wide forms are what spreadsheets read as the narrow ones. */
const formula = /(?<=^|[;\t\r\n])(?=[=@\uff1d\uff20]|[+\-\uff0b\uff0d](?!\d+(?:\.\d+)?(?:$|[;\t\r\n])))/g;

function cellText(cell: CsvCell): string {
  if (typeof cell !== "string") return cell === undefined ? "" : String(cell);
  const text = cell.replace(formula, "'");
  // Some readers drop white space at the beginning, and look at what comes then.
  return /^[\t\r\n]/.test(text) ? `'${text}` : text;
}
