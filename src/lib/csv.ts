/** A cell; undefined is an empty one. */
export type CsvCell = string | number | boolean | undefined;

/**
 * A row of a table as CSV text (RFC 4180) with its CRLF: quotes only where they are needed. Texts that a spreadsheet would
 * run as a formula get a leading `'`: those that begin with `=` or `@`, or with `+` or `-` and anything but a number.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join()}\r\n`;
}

function cellText(cell: CsvCell): string {
  if (typeof cell !== "string") return cell === undefined ? "" : String(cell);
  const text = /^(?:[=@]|[+-](?!\d+(?:\.\d+)?$))/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
