/** A cell; undefined is written as an empty cell. */
export type CsvCell = string | number | boolean | undefined;

/**
 * Writes a row of a table as CSV text (RFC 4180) with its CRLF, with quotes where needed. A `'` disarms texts that a
 * spreadsheet would run as a formula: it goes before `=` and `@` at the start of a cell, and before `+` and `-` unless
 * a number follows. Some readers also start a cell after semicolons, tabs and line breaks, even inside quotes.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join()}\r\n`;
}

/** Where a formula would begin; spreadsheets read the full-width characters like the plain ones. */
const formula = /(?<=^|[;\t\r\n])(?=[=@\uff1d\uff20]|[+\-\uff0b\uff0d](?!\d+(?:\.\d+)?(?:$|[;\t\r\n])))/g;

/** The text of one cell of `csvLine`. */
export function csvCell(cell: CsvCell): string {
  if (typeof cell !== "string") return cell === undefined ? "" : String(cell);
  const harmless = cell.replace(formula, "'");
  // Some readers drop leading white space and then look for a formula.
  const text = /^[\t\r\n]/.test(harmless) ? `'${harmless}` : harmless;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
