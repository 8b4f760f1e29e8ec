import { type RawBuilder, sql } from "kysely";
import { answerBytesMax } from "../lib/paging/fill-page.ts";
import type { Db } from "./open.ts";

/**
 * The rows of an ordered statement that one answer may hold, and one row more: none that comes after so many bytes. The
 * statement goes by the name `page` in `bytes`, an integer that each row then has too, and in `order`.
 */
export function withinAnswer(
  statement: RawBuilder<unknown>,
  { bytes, order }: { readonly bytes: RawBuilder<unknown>; readonly order: RawBuilder<unknown> },
): RawBuilder<unknown> {
  // The second row is there whatever the first one has, because it tells that there is a next page.
  return sql`select * from (
    select page.*, row_number() over listed as place, sum(page.bytes) over listed - page.bytes as bytes_before
    from (select page.*, (${bytes})::int as bytes from (${statement}) page) page
    window listed as (order by ${order} rows unbounded preceding)) page
    where place <= 2 or bytes_before <= ${answerBytesMax} order by place`;
}

/** What a record has beside the texts that are counted, at the least. */
const recordBytes = 200;

export interface Embedding {
  readonly source: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
}

/**
 * What an answer embeds, by the ids of its records in their order: `source` selects for one `asked.id`, and goes by the
 * name `record` in `bytes`. Rows have that id as `asked_id` and its `place`; where nothing was found, nulls beside them.
 * Ids that come after as many bytes as one answer holds have no row at all.
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

/** What was read for each id; nothing for those that the statement has left out. */
export type Embedded<Row> = ReadonlyMap<string, readonly Row[]>;

/** Reads what records embed where the statement needs nothing around it, each one's in their `order`. */
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

/** A row of such a statement; all of the record is null where there is none for the id. */
export type Asked<Row> = Row & { readonly asked_id: string };

/** The records by the ids that they were asked for. */
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
