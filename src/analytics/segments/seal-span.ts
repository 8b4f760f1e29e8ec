import { sql } from "kysely";
import { plainArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import { uuidFromTime } from "../../lib/ids.ts";
import { shareRollUps } from "../../visitors/roll-ups.ts";
import { counts } from "../reference/counted-visits-queries.ts";
import { type PackedColumns, packColumns } from "./pack-columns.ts";
import { readVisits, type Span } from "./read-visits.ts";
import type { Session } from "./session.ts";

const dayMs = 24 * 60 * 60_000;

/** How many days a segment with visits spans at most: times are kept in 32 bits. */
export const daysMax = 31;

/** A segment that is not stored yet. */
interface Piece {
  readonly from: Date;
  readonly to: Date;
  readonly sealedAt: Date;
  readonly visits: number;
  readonly columns: PackedColumns;
  /** The marks that the snapshot of the piece saw. */
  readonly marks: readonly string[];
}

/**
 * Seals a span again, or for the first time, and stores all of its segments at once. Only visits that were marked since
 * then remain marked. The caller has the workspace's lock for sealing.
 */
export async function sealSpan(session: Session, span: Span): Promise<void> {
  const pieces: Piece[] = [];
  for (let { from } = span; from < span.to; ) {
    const piece = await readPiece(session, { ...span, from });
    pieces.push(piece);
    from = piece.to;
  }
  await storePieces(session.db, span, pieces);
}

/** Seals the first segment of a span, and returns where it ends. */
export async function sealFirst(session: Session, span: Span): Promise<Date> {
  const piece = await readPiece(session, span);
  await storePieces(session.db, { ...span, to: piece.to }, [piece]);
  return piece.to;
}

/** Reads the segment at the beginning of a span, as everything is at one moment. */
async function readPiece({ db, client }: Session, span: Span): Promise<Piece> {
  const { workspaceId, from } = span;
  const snapshot = db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
  const { read, ...piece } = await snapshot.execute(async (tx) => {
    const { rows: marks } = await sql<{ id: string }>`select id::text as id from segment_marks
      where workspace_id = ${workspaceId} and first_at < ${span.to} and last_at >= ${from}`.execute(tx);
    const first = await firstVisit(tx, span);
    const own = { workspaceId, from, to: endOf(span, first.at) };
    const nothing = { ...own, to: from };
    const read = await readVisits(client, first.at !== undefined && first.at < own.to ? own : nothing);
    const to = read.visits === 0 ? own.to : read.to;
    return { read, from, to, sealedAt: first.now, marks: marks.map(({ id }) => id) };
  });
  return { ...piece, visits: read.visits, columns: await packColumns(read.columns) };
}

async function firstVisit(tx: Db, { workspaceId, from, to }: Span) {
  const { rows } = await sql<{ now: Date; at: Date | null }>`select clock_timestamp() as now, (
    select e.created_at from events e where ${sql.raw(counts)} and e.workspace_id = ${workspaceId}
      and e.created_at >= ${from} and e.id >= ${uuidFromTime(from)} and e.id < ${uuidFromTime(to)}
    order by e.id limit 1) as at`.execute(tx);
  return { now: rows[0]?.now ?? new Date(), at: rows[0]?.at ?? undefined };
}

/** A long time without visits is a segment of its own, and costs no more than a short one. */
function endOf({ from, to }: Span, firstAt: Date | undefined): Date {
  if (firstAt === undefined) return to;
  const firstDayMs = Math.floor(firstAt.getTime() / dayMs) * dayMs;
  const farMs = from.getTime() + daysMax * dayMs;
  return new Date(Math.min(to.getTime(), firstDayMs > farMs ? firstDayMs : farMs));
}

/** Stores segments in place of those that began in the span. Does nothing when the workspace is being purged. */
async function storePieces(db: Db, { workspaceId, from, to }: Span, pieces: readonly Piece[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // A purge takes this lock alone before it begins.
    await shareRollUps([workspaceId]).execute(tx);
    const { rows } = await sql`select from workspaces
      where id = ${workspaceId} and purge_began_at is null`.execute(tx);
    if (rows.length === 0) return;
    await sql`delete from segments
      where workspace_id = ${workspaceId} and begins_at >= ${from} and begins_at < ${to}`.execute(tx);
    for (const piece of pieces) await insertSegment(tx, workspaceId, piece);
    // Later snapshots saw these marks, too. A mark may go beyond the span on both sides.
    await sql`
      with gone as (
        delete from segment_marks
        where workspace_id = ${workspaceId} and id = any(${plainArray(pieces[0]?.marks ?? [])}::bigint[])
        returning first_at, last_at, marked_at)
      insert into segment_marks (workspace_id, first_at, last_at, marked_at)
      select ${workspaceId}::uuid, first_at, ${from}::timestamptz - interval '1 millisecond', marked_at from gone
      where first_at < ${from}
      union all
      select ${workspaceId}::uuid, ${to}::timestamptz, last_at, marked_at from gone where last_at >= ${to}`.execute(
      tx,
    );
  });
}

async function insertSegment(tx: Db, workspaceId: string, piece: Piece): Promise<void> {
  const { from, to, sealedAt, visits, columns } = piece;
  const { visitType, deviceType, ...others } = columns;
  await tx
    .insertInto("segments")
    .values({
      workspace_id: workspaceId,
      begins_at: from,
      ends_at: to,
      sealed_at: sealedAt,
      visits,
      visit_type: visitType,
      device_type: deviceType,
      ...others,
    })
    .execute();
}
