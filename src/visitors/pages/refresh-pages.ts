import { sql } from "kysely";
import { plainArray } from "../../db/array-literal.ts";
import { lockClasses } from "../../db/locks.ts";
import { isLostRace, untilUndisturbed } from "../../db/lost-races.ts";
import type { Db } from "../../db/open.ts";
import { idsOfBytes, lowestId } from "./id-bytes.ts";
import {
  columnNames,
  decodeHead,
  encodeAttributes,
  encodeCounts,
  encodeHead,
  encodeLinks,
  encodeTexts,
  pageVisitorsMax,
} from "./page-format.ts";
import { type Profile, readProfiles, searchedText } from "./profile.ts";
import { fromOn, noteBrokenPage, type Range, within } from "./queries.ts";

export interface RefreshOptions {
  /** The most visitors of a page. */
  readonly visitors?: number;
}

/** How many bytes of attributes a page has at most, unless they are one visitor's. */
const pageBytesMax = 2 << 20;

/** How many notes one transaction looks at. */
const notesAtOnce = 50_000;

/** The visits of how many statements one transaction works off: each has some thousands at most. */
const statementsAtOnce = 200;

/** How many pages one transaction makes again, apart from those that become several. */
const pagesAtOnce = 4;

/** How long one run begins with more pages, in milliseconds. The next run goes on with what it leaves. */
const runMsMax = 20_000;

/**
 * Brings the pages of every workspace up to date, as far as it comes in some seconds. Workspaces take turns, in an order
 * that differs from run to run. One workspace that fails does not hold up the others.
 */
export async function refreshAllPages(
  db: Db,
  signal?: AbortSignal,
  { msMax = runMsMax }: { readonly msMax?: number } = {},
): Promise<void> {
  const beganMs = performance.now();
  const isOver = () => signal?.aborted === true || performance.now() - beganMs > msMax;
  const failures: unknown[] = [];
  const waiting = await notedWorkspaces(db);
  for (let next = waiting.shift(); next !== undefined && !isOver(); next = waiting.shift()) {
    const workspaceId = next;
    const hasMore = await refreshPages(db, workspaceId).catch((error: unknown) => {
      failures.push(error);
      return false;
    });
    if (hasMore) waiting.push(workspaceId);
  }
  if (failures.length > 0) throw failures[0];
}

async function notedWorkspaces(db: Db): Promise<string[]> {
  const { rows } = await sql<{ workspace_id: string }>`select workspace_id from (
      select workspace_id from visitors_changed union select workspace_id from visitors_visited) as noted
    order by random()`.execute(db);
  return rows.map(({ workspace_id: id }) => id);
}

/**
 * Makes those pages of a workspace again whose visitors have changed, and counts the visits of those who came again. A
 * snapshot shows both the notes and the visitors, and only notes that it shows are deleted. A writer who commits later
 * leaves a note of its own. Returns whether notes that the snapshot shows are left: what comes meanwhile waits for the
 * next run.
 */
export async function refreshPages(
  db: Db,
  workspaceId: string,
  options: RefreshOptions = {},
): Promise<boolean> {
  const isLeft = await alone(db, workspaceId, (tx) => remakeSome(tx, workspaceId, options));
  return (await alone(db, workspaceId, (tx) => recountSome(tx, workspaceId))) || isLeft;
}

/** Runs a step on a snapshot, unless another process is at the pages of the workspace. */
async function alone(db: Db, workspaceId: string, step: (tx: Db) => Promise<boolean>): Promise<boolean> {
  const transaction = db.transaction().setIsolationLevel("repeatable read");
  return untilUndisturbed(
    () =>
      transaction.execute(async (tx) => {
        const lock = await sql<{ got: boolean }>`select pg_try_advisory_xact_lock(${lockClasses.visitorPages},
          hashtext(${workspaceId})) as got`.execute(tx);
        return lock.rows[0]?.got === true && (await step(tx));
      }),
    isLostRace,
  );
}

interface KnownPage {
  readonly from_id: string;
  readonly page: string;
  readonly counts_version: number;
}

interface NotedPage {
  readonly page: KnownPage | undefined;
  readonly range: Range;
}

/** The pages that visitors belong to, with their spans. */
async function notedPages(tx: Db, workspaceId: string, visitorIds: readonly string[]): Promise<NotedPage[]> {
  const { rows: pages } = await sql<KnownPage>`select from_id, page::text, counts_version from visitors_pages
    where workspace_id = ${workspaceId} order by from_id`.execute(tx);
  const starts = pages.length === 0 ? [lowestId] : pages.map(({ from_id }) => from_id);
  const places = new Set(visitorIds.map((id) => Math.max(0, lastAtMost(starts, id))));
  return [...places].map((place) => ({
    page: pages[place],
    range: { from: starts[place] ?? lowestId, until: starts[place + 1] },
  }));
}

function lastAtMost(sorted: readonly string[], value: string): number {
  let low = -1;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sorted[middle] ?? "") <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function remakeSome(tx: Db, workspaceId: string, options: RefreshOptions): Promise<boolean> {
  const { rows } = await sql<{ visitor_id: string }>`select visitor_id from visitors_changed
    where workspace_id = ${workspaceId} limit ${notesAtOnce}`.execute(tx);
  if (rows.length === 0) return false;
  const noted = await notedPages(
    tx,
    workspaceId,
    rows.map(({ visitor_id: id }) => id),
  );
  for (const { page, range } of noted.slice(0, pagesAtOnce)) {
    if (page !== undefined) await deletePage(tx, workspaceId, page.page);
    await makePages(tx, workspaceId, range, options);
    await sql`delete from visitors_changed where workspace_id = ${workspaceId}
      and ${within(sql`visitor_id`, range)}`.execute(tx);
  }
  return noted.length > pagesAtOnce || rows.length === notesAtOnce;
}

async function deletePage(tx: Db, workspaceId: string, page: string): Promise<void> {
  await sql`delete from visitors_columns where workspace_id = ${workspaceId} and page = ${page}`.execute(tx);
  await sql`delete from visitors_pages where workspace_id = ${workspaceId} and page = ${page}`.execute(tx);
}

/** Makes the pages of a span: one that begins where the span does, even without visitors, and more if need be. */
async function makePages(
  tx: Db,
  workspaceId: string,
  range: Range,
  { visitors = pageVisitorsMax }: RefreshOptions,
): Promise<void> {
  const matching = fromOn(range);
  for (let last: string | undefined; ; ) {
    const profiles = await readProfiles(tx, workspaceId, matching(last), { visitors, bytes: pageBytesMax });
    const [first] = profiles;
    if (first === undefined && last !== undefined) return;
    await insertPage(
      tx,
      workspaceId,
      last === undefined || first === undefined ? range.from : first.id,
      profiles,
    );
    last = profiles.at(-1)?.id;
    if (last === undefined) return;
  }
}

async function insertPage(
  tx: Db,
  workspaceId: string,
  from: string,
  profiles: readonly Profile[],
): Promise<void> {
  const { rows } = await sql<{ page: string }>`insert into visitors_pages (workspace_id, from_id)
    values (${workspaceId}, ${from}) returning page::text`.execute(tx);
  const columns = [
    ...encodeAttributes(profiles),
    [columnNames.head, encodeHead(profiles)] as const,
    [columnNames.visits(0), encodeCounts(profiles.map(({ visitCount }) => visitCount))] as const,
    [columnNames.links, encodeLinks(profiles)] as const,
    [columnNames.text, encodeTexts(profiles.map(searchedText))] as const,
  ];
  await sql`insert into visitors_columns (workspace_id, page, name, data)
    select ${workspaceId}, ${rows[0]?.page}::bigint, * from unnest(${columns.map(([name]) => name)}::text[],
      ${columns.map(([, data]) => data)}::bytea[])`.execute(tx);
}

/** The visitors of a page, by the bytes of its head. Undefined when they are damaged. */
function idsOf(head: Buffer): string[] | undefined {
  try {
    return idsOfBytes(decodeHead(head).ids);
  } catch {
    return undefined;
  }
}

/** Counts the visits of pages again whose visitors came again. */
async function recountSome(tx: Db, workspaceId: string): Promise<boolean> {
  const { rows } = await sql<{ place: string; visitor_ids: string[] }>`
    select ctid::text as place, visitor_ids from visitors_visited
    where workspace_id = ${workspaceId} limit ${statementsAtOnce}`.execute(tx);
  if (rows.length === 0) return false;
  const visitorIds = new Set(rows.flatMap(({ visitor_ids: ids }) => ids));
  for (const { page } of await notedPages(tx, workspaceId, [...visitorIds]))
    if (page !== undefined) await recount(tx, workspaceId, page);
  await sql`delete from visitors_visited where workspace_id = ${workspaceId}
    and ctid = any(${rows.map(({ place }) => place)}::tid[])`.execute(tx);
  return rows.length === statementsAtOnce;
}

async function recount(
  tx: Db,
  workspaceId: string,
  { from_id: from, page, counts_version: version }: KnownPage,
): Promise<void> {
  const { rows: heads } = await sql<{ data: Buffer }>`select data from visitors_columns
    where workspace_id = ${workspaceId} and page = ${page} and name = ${columnNames.head}`.execute(tx);
  const ids = heads[0] === undefined ? [] : idsOf(heads[0].data);
  if (ids === undefined) return noteBrokenPage(tx, workspaceId, from);
  const { rows } = await sql<{ visits: number }>`
    select coalesce(sum(l.event_count), 0)::float8 as visits
    from unnest(${plainArray(ids)}::uuid[]) with ordinality as given (id, place)
    left join visitor_links l on l.workspace_id = ${workspaceId} and l.visitor_id = given.id
    group by given.place order by given.place`.execute(tx);
  await sql`delete from visitors_columns where workspace_id = ${workspaceId} and page = ${page}
    and name = ${columnNames.visits(version)}`.execute(tx);
  await sql`insert into visitors_columns (workspace_id, page, name, data)
    values (${workspaceId}, ${page}, ${columnNames.visits(version + 1)},
      ${encodeCounts(rows.map(({ visits }) => visits))})`.execute(tx);
  await sql`update visitors_pages set counts_version = ${version + 1}
    where workspace_id = ${workspaceId} and page = ${page}`.execute(tx);
}
