import { type RawBuilder, sql } from "kysely";
import { answerBytesMax } from "../lib/paging/fill-page.ts";
import type { Db } from "./open.ts";

/**
 * Limits an ordered statement to the rows that fit one answer, and one row more. `bytes` and `order` refer to the
 * statement as `page`. `bytes` gives each row's bytes as an integer and becomes a column of the result.
 */
export function withinAnswer(
  statement: RawBuilder<unknown>,
  { bytes, order }: { readonly bytes: RawBuilder<unknown>; readonly order: RawBuilder<unknown> },
): RawBuilder<unknown> {
  // The second row is always read, because it tells that there is a next page.
  return sql`select * from (
    select page.*, row_number() over listed as place, sum(page.bytes) over listed - page.bytes as bytes_before
    from (select page.*, (${bytes})::int as bytes from (${statement}) page) page
    window listed as (order by ${order} rows unbounded preceding)) page
    where place <= 2 or bytes_before <= ${answerBytesMax} order by place`;
}

/** The least bytes of a record besides its counted texts. */
const recordBytes = 200;

export interface Embedding {
  readonly source: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
}

/**
 * Reads the embedded records for `ids`, in that order, up to the bytes of one answer. `source` selects the records of
 * one `asked.id`; `bytes` refers to them as `record`. Rows have the id as `asked_id` and its `place`; an id without
 * records has one row of nulls. Ids beyond the limit have no row.
 */
export function embeddedWithinAnswer(
  ids: readonly string[],
  { source, bytes }: Embedding,
): RawBuilder<unknown> {
  return sql`select * from (
    select asked.id as asked_id, asked.place, record.*,
      coalesce(sum(${recordBytes} + ${bytes}) over (order by asked.place), 0) as bytes_through
    from unnest(${ids}::uuid[]) with ordinality as asked (id, place)
    left join lateral (${source}) record on true) embedded
    where place = 1 or bytes_through <= ${answerBytesMax}`;
}

/** The rows for each id; ids that the statement left out have no entry. */
export type Embedded<Row> = ReadonlyMap<string, readonly Row[]>;

/**
 * Reads embedded records for which `embeddedWithinAnswer` is the whole statement; the records of each id come in
 * `order`.
 */
export async function readEmbedded<Row extends { readonly id: string }>(
  db: Db,
  ids: readonly string[],
  { order, ...what }: Embedding & { readonly order: RawBuilder<unknown> },
): Promise<Embedded<Row>> {
  const { rows } = await sql<Asked<Row>>`${embeddedWithinAnswer(ids, what)} order by place, ${order}`.execute(
    db,
  );
  return byAskedId(rows);
}

/** A row of such a statement; the record's columns are null when there is none for the id. */
export type Asked<Row> = Row & { readonly asked_id: string };

/** Groups the records by the ids that they were asked for. */
export function byAskedId<Row extends { readonly id: string | null }>(
  rows: readonly Asked<Row>[],
): Embedded<Row> {
  const found = new Map<string, Row[]>();
  for (const row of rows) {
    const ofId = found.get(row.asked_id) ?? [];
    if (row.id !== null) ofId.push(row);
    found.set(row.asked_id, ofId);
  }
  return found;
}
