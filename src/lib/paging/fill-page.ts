import { othersTurn, sliceMs } from "../limits/loop-turns.ts";
import { nextPageToken, type Page, type PageEdge, type PageKeys } from "./page.ts";

/** The most bytes of a paged answer, unless a single record has more: gRPC clients refuse longer messages. */
export const answerBytesMax = 4 * 1024 * 1024;

/** Bytes reserved for the parts of an answer besides its records: totals, and a token of at most 5,500 characters. */
const envelopeBytes = 8 * 1024;

/** How the rows of a list become the records of an answer. */
export interface PageFilling<Row, Kind extends keyof PageKeys, Item> {
  /** The rows that were read, in the order of the list, with one row beyond the page if there is one. */
  readonly rows: readonly Row[];
  readonly edgeOf: (row: Row) => PageEdge<Kind>;
  /** The row's bytes as the statement counted them, if the statement limits its rows by bytes. */
  readonly bytesOf?: (row: Row) => number;
  /**
   * Makes a record of a row; undefined when its embedded records were not read any more, and the page ends before it.
   */
  readonly recordOf: (row: Row) => Item | undefined;
  /** Writes a record in the form of the answer, and returns its bytes. */
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
 * Makes and writes the records of a page one by one, until the page has its size or the answer is full; it always holds
 * the first record. Other work gets its turn in between.
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
  // Only measures the duration.
  let startedAt = performance.now();
  for (const row of rows.slice(0, page.size)) {
    if (performance.now() - startedAt > sliceMs) {
      await othersTurn();
      startedAt = performance.now();
    }
    const record = recordOf(row);
    if (record === undefined) break;
    // The larger of both, so that a page never goes on beyond the rows that the statement returned.
    bytes += Math.max(write(record), bytesOf?.(row) ?? 0);
    if (bytes > bytesMax && records.length > 0) break;
    records.push(record);
  }
  const last = rows[records.length - 1];
  if (last === undefined || records.length === rows.length)
    return { records, nextPageToken: "", hasMore: false };
  return { records, nextPageToken: nextPageToken(edgeOf(last), page), hasMore: true };
}
