/** A cell; undefined is an empty one. */
export type CsvCell = string | number | boolean | undefined;

/**
 * A row of a table as CSV text (RFC 4180) with its CRLF: quotes where they are needed. Texts that a spreadsheet would run as
 * a formula get a `'`: before `=` and `@`, and before `+` and `-` with anything but a number, where a cell begins. Cells begin
 * for some readers also behind semicolons, tabs and line breaks, whatever quotes stand around them.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join()}\r\n`;
}

/** Where a formula would begin; the wide forms are what spreadsheets read as the narrow ones. */
const formula = /(?<=^|[;\t\r\n])(?=[=@\uff1d\uff20]|[+\-\uff0b\uff0d](?!\d+(?:\.\d+)?(?:$|[;\t\r\n])))/g;

function cellText(cell: CsvCell): string {
  if (typeof cell !== "string") return cell === undefined ? "" : String(cell);
  const harmless = cell.replace(formula, "'");
  // Some readers drop white space at the beginning, and look at what comes then.
  const text = /^[\t\r\n]/.test(harmless) ? `'${harmless}` : harmless;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
