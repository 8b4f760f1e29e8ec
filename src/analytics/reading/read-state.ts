import type pg from "pg";
import { uuidFromTime } from "../../lib/ids.ts";
import type { VisitColumns } from "../segments/columns.ts";
import { type Client, readVisits } from "../segments/read-visits.ts";

/** A segment without its columns. */
export interface SegmentFacts {
  /** It is another one whenever the segment is sealed again. */
  readonly version: string;
  readonly beginsMs: number;
  /** Exclusive. */
  readonly endsMs: number;
  readonly visits: number;
  /** Since when the segment lacks a change, as `performance.now` has it. */
  markedAt: number | undefined;
}

/** Visits as they were read from events. */
export interface OpenPart {
  readonly beginsMs: number;
  readonly visits: number;
  readonly columns: VisitColumns;
}

/** What a workspace's visits are made of at one moment. */
export interface StoredState {
  readonly segments: readonly SegmentFacts[];
  /** The visits behind the last segment. */
  readonly open: readonly OpenPart[];
  /** Visitors who moved since the last reading, with what they became. */
  readonly moves: readonly (readonly [number, number])[];
  /** The oldest transaction that ran; those who move in later ones come with the next reading. */
  readonly xmin: string;
}

/** So many visits are not kept in memory beside the segments. */
export const usualOpenMax = 262_144;

/** Segments cannot answer: too many visits are in none yet, or they change all the time. */
export class NotSealed extends Error {
  override readonly name = "NotSealed";
}

/** Runs statements on one connection. */
export async function withConnection<Result>(
  pool: pg.Pool,
  run: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    const result = await run(client);
    isBroken = false;
    return result;
  } finally {
    // A connection on which something failed is closed, not used again.
    client.release(isBroken);
  }
}

/** Runs statements that all see one moment. */
export function atOneMoment<Result>(
  pool: pg.Pool,
  run: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  return withConnection(pool, async (client) => {
    await client.query("begin isolation level repeatable read read only");
    const result = await run(client);
    await client.query("commit");
    return result;
  });
}

const segmentsSql = `
  select version::text, extract(epoch from begins_at) * 1000, extract(epoch from ends_at) * 1000, visits
  from segments where workspace_id = $1 order by begins_at`;

// Many marks are of the same minutes.
const marksSql = `
  select extract(epoch from date_trunc('minute', first_at)) * 1000, extract(epoch from max(last_at)) * 1000,
    extract(epoch from clock_timestamp() - min(marked_at)) * 1000
  from segment_marks where workspace_id = $1
    and first_at < (select max(ends_at) from segments where workspace_id = $1)
  group by date_trunc('minute', first_at), date_trunc('minute', last_at)`;

const movesSql = `
  select pg_snapshot_xmin(pg_current_snapshot())::text as xmin, number::text, to_number::text
  from (select) as once left join moved_visitors on workspace_id = $1 and moved_in >= $2::xid8`;

/**
 * Reads the state of a workspace, of its moves those since `xmin`, on a connection that sees one moment. It fails if more
 * than `openMax` visits are open.
 */
export async function readState(
  client: pg.ClientBase,
  {
    workspaceId,
    xmin,
    openMax,
  }: { readonly workspaceId: string; readonly xmin: string; readonly openMax: number },
): Promise<StoredState> {
  const segments = await readRows<[string, string, string, number]>(client, segmentsSql, [workspaceId]);
  // Marks seem older by the time that their statement takes: `through` may be too early, and never too late.
  const lookedAt = performance.now();
  const marks = await readRows<[string, string, string]>(client, marksSql, [workspaceId]);
  const moves = await readRows<[string, string | null, string | null]>(client, movesSql, [workspaceId, xmin]);
  const facts = segments.map(([version, begins, ends, visits]): SegmentFacts => {
    return { version, beginsMs: Number(begins), endsMs: Number(ends), visits, markedAt: undefined };
  });
  for (const [first, last, ageMs] of marks)
    mark(facts, Number(first), Number(last), lookedAt - Number(ageMs));
  return {
    segments: facts,
    open: await readOpen(client, { workspaceId, fromMs: facts.at(-1)?.endsMs ?? 0, openMax }),
    moves: moves.flatMap(([, from, to]) => (from === null ? [] : [[Number(from), Number(to)] as const])),
    xmin: moves[0]?.[0] ?? xmin,
  };
}

/** Notes that segments lack a change of visits from one moment to another. */
function mark(segments: readonly SegmentFacts[], firstMs: number, lastMs: number, markedAt: number): void {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((segments[middle]?.endsMs ?? 0) <= firstMs) low = middle + 1;
    else high = middle;
  }
  for (let index = low; index < segments.length; index++) {
    const segment = segments[index];
    if (segment === undefined || segment.beginsMs > lastMs) return;
    segment.markedAt = Math.min(segment.markedAt ?? markedAt, markedAt);
  }
}

async function readRows<Row extends readonly unknown[]>(
  client: Client,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const { rows } = await client.query<Row & unknown[]>({ text, values: [...values], rowMode: "array" });
  return rows;
}

/** The longest span that can be read at once, in milliseconds. */
const spanMs = 45 * 86_400_000;

/** No visit has a greater id. */
const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

// Times have no index of their own, so that without the ids all visits before the moment would be read.
const nextSql = `
  select extract(epoch from created_at) * 1000 from events
  where workspace_id = $1 and counted and locked_number is null and id >= $2 and id < $3 and created_at >= $4
  order by id limit 1`;

interface OpenSpan {
  readonly workspaceId: string;
  readonly fromMs: number;
  readonly toMs?: number;
  /** How many visits are read at most. */
  readonly openMax: number;
}

/** Reads the visits from a moment on, up to another one if there is one. */
export async function readOpen(
  client: Client,
  { workspaceId, fromMs, toMs, openMax }: OpenSpan,
): Promise<OpenPart[]> {
  const parts: OpenPart[] = [];
  let visits = 0;
  for (let at = fromMs; toMs === undefined || at < toMs; ) {
    const begin = new Date(at);
    const endId = toMs === undefined ? lastId : uuidFromTime(new Date(toMs));
    const [next] = await readRows<[string]>(client, nextSql, [
      workspaceId,
      uuidFromTime(begin),
      endId,
      begin,
    ]);
    if (next === undefined) break;
    const beginsMs = Math.max(at, Number(next[0]));
    const from = new Date(beginsMs);
    const to = new Date(Math.min(toMs ?? Number.POSITIVE_INFINITY, beginsMs + spanMs));
    const read = await readVisits(client, { workspaceId, from, to });
    parts.push({ beginsMs, visits: read.visits, columns: read.columns });
    visits += read.visits;
    if (visits > openMax) throw new NotSealed(`more than ${openMax} visits are in no segment`);
    at = read.to.getTime();
  }
  return parts;
}
