import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CsvError, parse } from "csv-parse";
import { UsageError } from "../outcome.ts";

/** A row of a CSV file, with the line on which it begins. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
  /** How many bytes of the file end with this row. */
  readonly bytes: number;
}

/** The most bytes of a row; a quote that nothing closes would otherwise make the rest of the file one row. */
const rowBytesMax = 1024 * 1024;

/** The most characters that are read to find out what stands between the columns. */
const headLengthMax = 64 * 1024;

const delimiters = [",", ";", "\t"];

/**
 * Reads rows one by one, so that a file of any size takes the same memory. Leaves empty rows out. Commas, semicolons or
 * tabs stand between the cells; the first row tells which. Throws a UsageError for text that is no CSV in UTF-8.
 */
export async function* readCsvRows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRow> {
  const texts = readTexts(bytes);
  const head = await readHead(texts);
  // The line that the parser has come to, and the places of the rows that wait for the loop below.
  let line = 1;
  const places: Pick<CsvRow, "line" | "bytes">[] = [];
  const parser = parse({
    delimiter: delimiterOf(head),
    max_record_size: rowBytesMax,
    relax_column_count: true,
    on_record(cells, info) {
      places.push({ line, bytes: info.bytes });
      line += 1 + cells.reduce((sum, cell) => sum + lineBreaksIn(cell), 0);
      return cells;
    },
  });
  const reading = pipeline(Readable.from(joined(head, texts)), parser);
  // Its error reaches the loop below through the parser.
  reading.catch(() => {});
  try {
    for await (const cells of parser as AsyncIterable<readonly string[]>) {
      const place = places.shift();
      if (place !== undefined && cells.some((cell) => cell.trim() !== "")) yield { ...place, cells };
    }
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error, line) : error;
  }
}

async function* readTexts(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError("the file is not in UTF-8: save it as CSV in UTF-8", help);
  }
}

async function readHead(texts: AsyncGenerator<string>): Promise<string> {
  let head = "";
  while (!/[\r\n]/.test(head) && head.length < headLengthMax) {
    const { value, done } = await texts.next();
    if (done) break;
    head += value;
  }
  return head;
}

async function* joined(head: string, texts: AsyncGenerator<string>): AsyncGenerator<string> {
  yield head;
  yield* texts;
}

/** What stands between the names of the columns, none of which has one of these characters. */
function delimiterOf(head: string): string {
  const [first = ""] = head.split(/[\r\n]/, 1);
  const found = [...first].find((character) => delimiters.includes(character));
  return found ?? ",";
}

function lineBreaksIn(cell: string): number {
  return cell.match(/\r\n|\r|\n/g)?.length ?? 0;
}

function unreadable({ code }: CsvError, line: number): UsageError {
  switch (code) {
    case "CSV_MAX_RECORD_SIZE":
    case "CSV_QUOTE_NOT_CLOSED":
      return new UsageError(`line ${line}: a quote is open that nothing closes`, help);
    default:
      return new UsageError(
        `line ${line}: a cell with quotes must stand in quotes as a whole, its own quotes doubled`,
        help,
      );
  }
}

const help = "links import";
