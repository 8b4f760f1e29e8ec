import { setImmediate as othersTurn } from "node:timers/promises";
import type { Db } from "../../db/open.ts";
import { bytesOfIds, lowestId } from "./id-bytes.ts";
import { columnsFor, matchesProfile, matchPage, type Wanted } from "./match-page.ts";
import type { PageCache, PageColumns } from "./page-cache.ts";
import { columnNames } from "./page-format.ts";
import { type Profile, readProfiles } from "./profile.ts";
import {
  type AfterVisitor,
  among,
  changedMax,
  fromOn,
  listPages,
  noteBrokenPage,
  type Page,
  type PageInRange,
  type Range,
  readRange,
} from "./queries.ts";
import { createTopVisitors, type Ranked, type TopVisitors } from "./top-visitors.ts";

/** What visitors can be sorted by. */
export type VisitorKey = "created_at" | "visit_count" | "device_count" | "link_count";

export interface VisitorQuestion {
  readonly workspaceId: string;
  readonly wanted: Wanted;
  readonly key: VisitorKey;
  readonly ascending: boolean;
  /** The last visitor of the page before. */
  readonly after: Ranked | undefined;
  readonly limit: number;
}

export interface FoundVisitors {
  /** The first visitors after `after`. */
  readonly ranked: readonly Ranked[];
  /** How many visitors are wanted in all. */
  readonly total: number;
}

/** How many pages one statement reads. */
const pagesAtOnce = 8;

/** How many visitors who have changed are read at once, and how many bytes of attributes at most. */
const liveLimits = { visitors: 1_000, bytes: 4 << 20 };

/**
 * Finds the visitors who are wanted, by the columns of their pages. Those who have changed since their page was made
 * are read as they are now, and so are all around a damaged page, which the worker then makes again. Only the number of visits may be as old as the last refresh, when very many have changed.
 */
export async function findVisitors(
  db: Db,
  cache: PageCache,
  question: VisitorQuestion,
): Promise<FoundVisitors> {
  const { workspaceId, wanted, key, ascending, after, limit } = question;
  const { pages, followsVisits } = await listPages(db, workspaceId, key === "visit_count");
  const names = [columnNames.head, ...columnsFor(wanted)];
  const top = createTopVisitors(limit, ascending, after);
  for (const { range, pages: expected } of spansOf(pages, ascending)) {
    const asked = {
      workspaceId,
      range,
      pages: expected,
      names,
      withVisits: key === "visit_count",
      followsVisits,
    };
    const { pages: read, changed, broken } = await readRange(db, cache, asked);
    for (const from of broken) await noteBrokenPage(db, workspaceId, from);
    if (changed.length > changedMax || broken.length > 0) {
      await offerLive(db, question, fromOn(range), top);
      continue;
    }
    for (const page of ascending ? read : read.toReversed()) {
      offerPage(page, question, changed, top);
      await othersTurn();
    }
    for (let start = 0; start < changed.length; start += liveLimits.visitors)
      await offerLive(db, question, among(changed.slice(start, start + liveLimits.visitors)), top);
  }
  return { ranked: top.taken(), total: top.offered() };
}

/** Spans of ids, each with some pages, which follow each other in the order of the list. */
function spansOf(
  pages: readonly Page[],
  ascending: boolean,
): { readonly range: Range; readonly pages: readonly Page[] }[] {
  const spans = Array.from({ length: Math.max(1, Math.ceil(pages.length / pagesAtOnce)) }, (_, place) => {
    const end = (place + 1) * pagesAtOnce;
    const own = pages.slice(place * pagesAtOnce, end);
    return { range: { from: own[0]?.from ?? lowestId, until: pages[end]?.from }, pages: own };
  });
  return ascending ? spans : spans.reverse();
}

function offerPage(
  { columns, visitsName }: PageInRange,
  { wanted, key, ascending }: VisitorQuestion,
  changed: readonly string[],
  top: TopVisitors,
): void {
  const head = columns.get(columnNames.head)?.head;
  if (head === undefined) throw new Error("a page of visitors has no head");
  const { ids, createdMs, linkCounts, deviceCounts } = head;
  const count = createdMs.length;
  const matched = matchPage(count, wanted, columns);
  for (const id of changed) {
    const place = placeOf(ids, bytesOfIds([id]));
    if (place !== undefined) matched[place] = 0;
  }
  const keys = {
    created_at: createdMs,
    link_count: linkCounts,
    device_count: deviceCounts,
    visit_count: countsOf(columns, visitsName),
  }[key];
  for (let step = 0; step < count; step++) {
    const place = ascending ? step : count - 1 - step;
    if (matched[place] === 1) top.offer(keys[place] ?? 0, ids, place * 16);
  }
}

function countsOf(columns: PageColumns, name: string): Float64Array {
  return columns.get(name)?.counts ?? noCounts;
}

const noCounts = new Float64Array();

/** Where a page has the id. */
function placeOf(ids: Buffer, id: Buffer): number | undefined {
  let low = 0;
  let high = ids.length / 16 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const order = ids.compare(id, 0, 16, middle * 16, middle * 16 + 16);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

/** Offers visitors as they are now: all of a span of ids, or some. */
async function offerLive(
  db: Db,
  { workspaceId, wanted, key }: VisitorQuestion,
  matching: AfterVisitor,
  top: TopVisitors,
): Promise<void> {
  for (let last: string | undefined; ; ) {
    const profiles = await readProfiles(db, workspaceId, matching(last), liveLimits);
    if (profiles.length === 0) return;
    for (const profile of profiles)
      if (matchesProfile(profile, wanted)) top.offer(keyOf(profile, key), bytesOfIds([profile.id]), 0);
    last = profiles.at(-1)?.id;
  }
}

function keyOf({ createdMs, visitCount, deviceCount, links }: Profile, key: VisitorKey): number {
  return {
    created_at: createdMs,
    visit_count: visitCount,
    device_count: deviceCount,
    link_count: links.length,
  }[key];
}
