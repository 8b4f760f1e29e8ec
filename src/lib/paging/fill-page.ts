import { othersTurn, sliceMs } from "../limits/loop-turns.ts";
import { nextPageToken, type Page, type PageEdge, type PageKeys } from "./page.ts";

/** The most bytes of an answer that pages, unless one record alone has more: clients of gRPC refuse longer messages. */
export const answerBytesMax = 4 * 1024 * 1024;

/** What an answer has beside its records: totals, and a token of at most 4,096 characters. */
const envelopeBytes = 8 * 1024;

/** How the rows of a list become the records of an answer. */
export interface PageFilling<Row, Kind extends keyof PageKeys, Item> {
  /** Every row that was read, in the order of the list, with one row more than the page has wherever there is one. */
  readonly rows: readonly Row[];
  readonly edgeOf: (row: Row) => PageEdge<Kind>;
  /** The bytes by which the statement cut its rows, where it did. */
  readonly bytesOf?: (row: Row) => number;
  /** Undefined where what the record embeds was not read any more: the page ends before it. */
  readonly recordOf: (row: Row) => Item | undefined;
  /** Writes a record as the answer will hold it, and says how many bytes it has. */
  readonly write: (record: Item) => number;
  /** The most bytes of all records together, where it is less than an answer may have. */
  readonly bytesMax?: number;
}

export interface FilledPage<Item> {
  readonly records: Item[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly hasMore: boolean;
}

/**
 * Makes the records of a page and writes them one by one, until there are as many as were asked for or the answer is full;
 * the first one is always in. Others have their turn in between.
 */
export async function fillPage<Row, Kind extends keyof PageKeys, Item>(
  page: Page<Kind>,
  {
    rows,
    edgeOf,
    bytesOf,
    recordOf,
    write,
    bytesMax = answerBytesMax - envelopeBytes,
  }: PageFilling<Row, Kind, Item>,
): Promise<FilledPage<Item>> {
  const records: Item[] = [];
  let bytes = 0;
  // A stopwatch only.
  let startedAt = performance.now();
  for (const row of rows.slice(0, page.size)) {
    if (performance.now() - startedAt > sliceMs) {
      await othersTurn();
      startedAt = performance.now();
    }
    const record = recordOf(row);
    if (record === undefined) break;
    // The larger of both, so that a page never goes on beyond the rows that the statement gave.
    bytes += Math.max(write(record), bytesOf?.(row) ?? 0);
    if (bytes > bytesMax && records.length > 0) break;
    records.push(record);
  }
  const last = rows[records.length - 1];
  if (last === undefined || records.length === rows.length)
    return { records, nextPageToken: "", hasMore: false };
  return { records, nextPageToken: nextPageToken(edgeOf(last), page), hasMore: true };
}
