import { sql } from "kysely";
import { plainArray } from "../../db/array-literal.ts";
import { lockClasses } from "../../db/locks.ts";
import type { Db } from "../../db/open.ts";
import { uuidFromTime } from "../../lib/ids.ts";
import { holdRollUps } from "../../visitors/roll-ups.ts";
import { counts } from "../reference/counted-visits-queries.ts";
import { daysMax, sealFirst, sealSpan } from "./seal-span.ts";
import type { Session } from "./session.ts";

export interface SealDeps {
  readonly session: Session;
  readonly now: () => Date;
  /** How old a mark is before its segment is sealed again, in milliseconds. */
  readonly settledMs?: number;
  /** How many visits are left open before the day is over. */
  readonly openMax?: number;
}

const dayMs = 24 * 60 * 60_000;

/** Visits are sealed this long after they came, in milliseconds: until then, most of them are stored. */
const settlingMs = 5 * 60_000;

/** A smaller segment at the end grows with the next day's visits, so that a question reads few segments. */
const smallVisits = 8_192;

/** How long the writers of a workspace may be kept waiting for each other, in milliseconds. */
const patienceMs = 2_000;

/** The beginning of the first segment. Ids hold no earlier time. */
const beginning = new Date(0);

/**
 * Seals what is due of a workspace: whole days, the open part when it is large, and segments with marks. Processes that
 * meet at a workspace do not disturb each other: the first one does all. What is cut short goes on with the next call.
 */
export async function sealWorkspace(
  deps: SealDeps,
  workspaceId: string,
  signal?: AbortSignal,
): Promise<void> {
  const { db } = deps.session;
  const lock = sql`${lockClasses.sealing}, hashtext(${workspaceId})`;
  const { rows } = await sql<{ isOurs: boolean }>`select pg_try_advisory_lock(${lock}) as "isOurs"`.execute(
    db,
  );
  if (rows[0]?.isOurs !== true) return;
  try {
    const hints = await findHints(db, workspaceId);
    await raise(deps, workspaceId);
    await sealOpen(deps, workspaceId, signal);
    await sealMarked(deps, workspaceId, signal);
    await deleteHints(db, workspaceId, hints);
  } finally {
    await sql`select pg_advisory_unlock(${lock})`.execute(db);
  }
}

interface Sealed {
  readonly through: Date | null;
  /** The last segment; null without one. */
  readonly begins_at: Date | null;
  readonly ends_at: Date | null;
  readonly visits: number | null;
}

async function findSealed(db: Db, workspaceId: string): Promise<Sealed | undefined> {
  const { rows } = await sql<Sealed>`select w.sealed_through as through, s.begins_at, s.ends_at, s.visits
    from workspaces w left join lateral (
      select begins_at, ends_at, visits from segments where workspace_id = ${workspaceId}
      order by begins_at desc limit 1) as s on true
    where w.id = ${workspaceId} and w.purge_began_at is null`.execute(db);
  return rows[0];
}

/** Raises the time before which writers leave marks. Whoever has not seen the new time has committed afterwards. */
async function raise(deps: SealDeps, workspaceId: string): Promise<void> {
  const { db } = deps.session;
  const sealed = await findSealed(db, workspaceId);
  if (sealed === undefined) return;
  const through = await dueThrough(deps, workspaceId, sealed.through ?? beginning);
  if (through === undefined) return;
  await db.transaction().execute(async (tx) => {
    await sql`select set_config('lock_timeout', ${String(patienceMs)}, true)`.execute(tx);
    await holdRollUps(workspaceId).execute(tx);
    await sql`update workspaces set sealed_through = ${through}
      where id = ${workspaceId} and purge_began_at is null`.execute(tx);
  });
}

/** The time through which visits are due; undefined when nothing new is. */
async function dueThrough(
  { session: { db }, now, openMax = 50_000 }: SealDeps,
  workspaceId: string,
  through: Date,
): Promise<Date | undefined> {
  const ready = new Date(Math.floor((now().getTime() - settlingMs) / 60_000) * 60_000);
  const day = new Date(Math.floor(ready.getTime() / dayMs) * dayMs);
  const isDayDue =
    day > through && (await countVisits(db, { workspaceId, from: through, to: day, max: 1 })) > 0;
  const from = isDayDue ? day : through;
  const isBusy =
    ready > from && (await countVisits(db, { workspaceId, from, to: ready, max: openMax + 1 })) > openMax;
  if (isBusy) return ready;
  return isDayDue ? day : undefined;
}

interface Counted {
  readonly workspaceId: string;
  readonly from: Date;
  readonly to: Date;
  readonly max: number;
}

/** Counts visits, of which it reads no more than `max`. */
async function countVisits(db: Db, { workspaceId, from, to, max }: Counted): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from (
    select from events e where ${sql.raw(counts)} and e.workspace_id = ${workspaceId}
      and e.id >= ${uuidFromTime(from)} and e.id < ${uuidFromTime(to)} limit ${max}) as visits`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Seals what lies between the last segment and the time through which visits are sealed. */
async function sealOpen({ session }: SealDeps, workspaceId: string, signal?: AbortSignal): Promise<void> {
  const sealed = await findSealed(session.db, workspaceId);
  const to = sealed?.through ?? beginning;
  const { begins_at: lastFrom = null, ends_at: lastTo = null, visits = null } = sealed ?? {};
  let from = lastTo ?? beginning;
  if (from >= to) return;
  const grows = visits !== null && visits > 0 && visits < smallVisits;
  if (grows && lastFrom !== null && to.getTime() - lastFrom.getTime() <= daysMax * dayMs) from = lastFrom;
  while (from < to && signal?.aborted !== true) from = await sealFirst(session, { workspaceId, from, to });
}

interface MarkedSegment {
  readonly from: Date;
  readonly to: Date;
}

/** Seals segments with settled marks again. */
async function sealMarked(
  { session, settledMs = 10_000 }: SealDeps,
  workspaceId: string,
  signal?: AbortSignal,
): Promise<void> {
  const { rows } = await sql<MarkedSegment>`
    select s.begins_at as from, s.ends_at as to from segments s
    where s.workspace_id = ${workspaceId} and exists (
      select from segment_marks m where m.workspace_id = ${workspaceId}
        and m.first_at < s.ends_at and m.last_at >= s.begins_at
        and m.marked_at <= clock_timestamp() - make_interval(secs => ${settledMs / 1000}))
    order by s.begins_at desc`.execute(session.db);
  for (const { from, to } of rows) {
    if (signal?.aborted === true) return;
    await sealSpan(session, { workspaceId, from, to });
  }
}

/** Marks behind the last segment. They only say that the workspace has many visits. */
async function findHints(db: Db, workspaceId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`select id::text as id from segment_marks
    where workspace_id = ${workspaceId} and ${behindSegments(workspaceId)}`.execute(db);
  return rows.map(({ id }) => id);
}

async function deleteHints(db: Db, workspaceId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`delete from segment_marks where workspace_id = ${workspaceId}
    and id = any(${plainArray(ids)}::bigint[]) and ${behindSegments(workspaceId)}`.execute(db);
}

function behindSegments(workspaceId: string) {
  return sql`first_at >= coalesce(
    (select max(ends_at) from segments where workspace_id = ${workspaceId}), '-infinity')`;
}
