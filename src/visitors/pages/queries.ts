import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { othersTurn } from "../../lib/limits/loop-turns.ts";
import { lowestId } from "./id-bytes.ts";
import type { Column, PageCache, PageColumns } from "./page-cache.ts";
import { BrokenPage, columnNames } from "./page-format.ts";

/** A span of ids. */
export interface Range {
  readonly from: string;
  /** The first id after the span. Undefined for the last span. */
  readonly until: string | undefined;
}

/** How many visitors of one span may have changed. When more have, the span is read without its pages. */
export const changedMax = 20_000;

/** How many visitors may have come again since the last refresh, so that their visits are counted as they are now. */
const cameAgainMax = 2_000;

export interface Page {
  /** The smallest id that the page may have. */
  readonly from: string;
  readonly page: string;
  /** The version of its column of visits. */
  readonly version: number;
}

/** The pages, in order, and whether few enough visitors have come again to count their visits now. */
export async function listPages(
  db: Db,
  workspaceId: string,
  asksForVisits: boolean,
): Promise<{ readonly pages: readonly Page[]; readonly followsVisits: boolean }> {
  const { rows } = await sql<{ pages: Page[]; came_again: number }>`select
    (select coalesce(jsonb_agg(jsonb_build_object('from', from_id, 'page', page::text, 'version', counts_version)
      order by from_id), '[]') from visitors_pages where workspace_id = ${workspaceId}) as pages,
    (select coalesce(sum(visitors), 0) from visitors_visited
      where workspace_id = ${workspaceId} and ${asksForVisits})::float8 as came_again`.execute(db);
  const { pages = [], came_again: cameAgain = 0 } = rows[0] ?? {};
  return { pages, followsVisits: asksForVisits && cameAgain <= cameAgainMax };
}

/** A condition on visitors `v`, who come after one visitor. */
export type AfterVisitor = (last: string | undefined) => RawBuilder<unknown>;

export function fromOn(range: Range): AfterVisitor {
  return (last) =>
    sql`v.id >= ${range.from} and ${within(sql`v.id`, range)} and (${last ?? null}::uuid is null or v.id > ${last ?? null})`;
}

export function among(ids: readonly string[]): AfterVisitor {
  return (last) => sql`v.id = any(${last === undefined ? ids : ids.filter((id) => id > last)}::uuid[])`;
}

export function within(id: RawBuilder<unknown>, { from, until }: Range): RawBuilder<unknown> {
  return until === undefined ? sql`${id} >= ${from}` : sql`${id} >= ${from} and ${id} < ${until}`;
}

export interface AskedRange {
  readonly workspaceId: string;
  readonly range: Range;
  /** The pages that began in the span a moment ago. */
  readonly pages: readonly Page[];
  /** The columns to read. */
  readonly names: readonly string[];
  /** Whether to read the numbers of visits, too. */
  readonly withVisits: boolean;
  /** Whether visitors of whom only the number of visits has changed count as changed. */
  readonly followsVisits: boolean;
}

export interface PageInRange {
  readonly columns: PageColumns;
  /** The name of the column of visits. */
  readonly visitsName: string;
}

export interface ReadRange {
  readonly pages: readonly PageInRange[];
  readonly changed: readonly string[];
  /** Where pages begin that cannot be read. */
  readonly broken: readonly string[];
}

interface RangeRow {
  readonly from_id: string | null;
  /** Null in the rows of visitors who have changed. */
  readonly page: string | null;
  readonly version: number;
  readonly name: string | null;
  readonly data: Buffer | null;
  readonly changed: string | null;
}

/**
 * Reads the pages that begin in a span, in order, and who of the span has changed since. One or the other tells how each
 * visitor is at one moment, because one statement reads both. Columns that are in the cache are not read again.
 */
export async function readRange(
  db: Db,
  cache: PageCache,
  { workspaceId, range, pages: expected, names, withVisits, followsVisits }: AskedRange,
): Promise<ReadRange> {
  const namesOf = (version: number) => (withVisits ? [...names, columnNames.visits(version)] : names);
  // The columns are held from here on, because the cache may drop them meanwhile.
  const known = new Map(
    expected.flatMap(({ page, version }) => {
      const columns = cache.columns(page, namesOf(version));
      return columns === undefined ? [] : [[`${page} ${version}` as string, columns] as const];
    }),
  );
  const { rows } = await sql<RangeRow>`
    select from_id, p.page::text, p.counts_version as version, c.name, c.data, null as changed
    from visitors_pages p
    left join visitors_columns c on c.workspace_id = ${workspaceId} and c.page = p.page
      and p.page || ' ' || p.counts_version <> all(${[...known.keys()]}::text[])
      and (c.name = any(${names}::text[]) or (${withVisits} and c.name = ${columnNames.visits("")} || p.counts_version))
    where p.workspace_id = ${workspaceId} and ${within(sql`p.from_id`, range)}
    union all
    select null, null, 0, null, null, visitor_id from (
      select distinct visitor_id from (
        select visitor_id from visitors_changed where workspace_id = ${workspaceId}
        union all
        select unnest(visitor_ids) from visitors_visited where workspace_id = ${workspaceId} and ${followsVisits}) as changed
      where ${within(sql`visitor_id`, range)} limit ${changedMax + 1}) as noted
    order by from_id`.execute(db);
  const read = Map.groupBy(
    rows.filter((row): row is RangeRow & { readonly page: string } => row.page !== null),
    ({ page, version }): string => `${page} ${version}`,
  );
  const pages: PageInRange[] = [];
  const broken: string[] = [];
  for (const [key, found] of read) {
    const { page, version, from_id: from } = found[0] ?? { page: "", version: 0 };
    const bytes = new Map(found.map(({ name, data }) => [name, data ?? undefined]));
    try {
      const columns = known.get(key) ?? (await keepColumns(cache, page, namesOf(version), bytes));
      pages.push({ columns, visitsName: columnNames.visits(version) });
    } catch (error) {
      if (!(error instanceof BrokenPage)) throw error;
      broken.push(from ?? lowestId);
    }
  }
  return { pages, changed: rows.flatMap(({ changed }) => changed ?? []), broken };
}

async function keepColumns(
  cache: PageCache,
  page: string,
  names: readonly string[],
  bytes: ReadonlyMap<string | null, Buffer | undefined>,
): Promise<PageColumns> {
  const kept = new Map<string, Column>();
  for (const name of names) {
    // A large column takes some 10 ms to decode.
    await othersTurn();
    kept.set(name, cache.keep(page, name, bytes.get(name)));
  }
  return kept;
}

/** Has a page made again that begins with the id. One note is enough. */
export async function noteBrokenPage(db: Db, workspaceId: string, from: string): Promise<void> {
  await sql`insert into visitors_changed (workspace_id, visitor_id) select ${workspaceId}, ${from}
    where not exists (select from visitors_changed
      where workspace_id = ${workspaceId} and visitor_id = ${from})`.execute(db);
}
