import { sql } from "kysely";
import { type PackedColumns, unpackColumns } from "../../../src/analytics/segments/pack-columns.ts";
import { readVisits, type Span } from "../../../src/analytics/segments/read-visits.ts";
import type { Session } from "../../../src/analytics/segments/session.ts";
import { type ColumnRow, rowsOf } from "./rows-of.ts";

interface StoredSegment extends Omit<PackedColumns, "visitType" | "deviceType"> {
  readonly begins_at: Date;
  readonly ends_at: Date;
  readonly visits: number;
  readonly is_marked: boolean;
  readonly visit_type: Buffer;
  readonly device_type: Buffer;
}

export interface Compared {
  /**
   * Visits as an answer counts them: those of segments without marks, and of events for the rest. Moved visitors are
   * followed.
   */
  readonly answered: readonly ColumnRow[];
  /** The same visits as the events have them. */
  readonly stored: readonly ColumnRow[];
  /** How many of them came from segments. */
  readonly sealed: number;
  /** Whether each segment begins where the one before ends. */
  readonly isGapless: boolean;
}

/** Reads the visits of a span, which begins before the first one, as segments and as events have them at one moment. */
export async function compare({ db, client }: Session, span: Span): Promise<Compared> {
  const { workspaceId } = span;
  const snapshot = db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
  return snapshot.execute(async (tx) => {
    const read = async (from: Date, to: Date) =>
      from < to ? rowsOf((await readVisits(client, { workspaceId, from, to })).columns, from) : [];
    const { rows: segments } = await sql<StoredSegment>`
      select s.*, exists (select from segment_marks m where m.workspace_id = s.workspace_id
        and m.first_at < s.ends_at and m.last_at >= s.begins_at) as is_marked
      from segments s where workspace_id = ${workspaceId} order by begins_at`.execute(tx);
    const rows: ColumnRow[] = [];
    let sealed = 0;
    for (const segment of segments) {
      const { begins_at: from, ends_at: to, visits } = segment;
      const first = from < span.from ? span.from : from;
      if (segment.is_marked) rows.push(...(await read(first, to)));
      else if (visits > 0) {
        rows.push(...rowsOf(unpackColumns(columnsOf(segment), visits), from));
        sealed += visits;
      }
    }
    rows.push(...(await read(segments.at(-1)?.ends_at ?? span.from, span.to)));
    const { rows: moves } = await sql<{ number: number; to: number }>`
      select number::float8 as number, to_number::float8 as to from moved_visitors
      where workspace_id = ${workspaceId}`.execute(tx);
    const moved = new Map(moves.map(({ number, to }) => [number, to]));
    return {
      answered: rows.map((row) => ({ ...row, visitor: moved.get(row.visitor) ?? row.visitor })),
      stored: await read(span.from, span.to),
      sealed,
      isGapless: segments.every(
        ({ begins_at }, index) =>
          begins_at.getTime() === (segments[index - 1]?.ends_at ?? new Date(0)).getTime(),
      ),
    };
  });
}

function columnsOf(segment: StoredSegment): PackedColumns {
  const { times, links, visitors, devices, country, city, browser, platform, completed, scores, ways } =
    segment;
  const named = { visitType: segment.visit_type, deviceType: segment.device_type };
  return {
    times,
    links,
    visitors,
    devices,
    ...named,
    country,
    city,
    browser,
    platform,
    completed,
    scores,
    ways,
  };
}
