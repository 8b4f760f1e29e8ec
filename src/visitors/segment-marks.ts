import { type RawBuilder, sql } from "kysely";
import { plainArray } from "../db/array-literal.ts";
import type { Db } from "../db/open.ts";

/*
 * Whoever writes a counted visit, or changes what segments hold of one, marks it when it may be in a segment. The marks
 * are written in the same transaction, which shares the roll-ups' lock of the workspace (`shareRollUps`) before it reads
 * whether a visit is sealed: the sealer takes this lock alone before it seals more. Only merged and erased visitors are
 * noted in another way (`moved_visitors`).
 */

/** Whether the event `e` may be in a segment. */
export const isSealed: RawBuilder<boolean> = sql.raw(
  "coalesce(e.created_at < (select w.sealed_through from workspaces w where w.id = e.workspace_id), false)",
);

/** A visit that may be in a segment. */
export interface SealedVisit {
  readonly workspaceId: string;
  readonly at: Date;
}

/** Visits of a workspace that lie near to each other. */
interface Mark {
  readonly workspaceId: string;
  firstMs: number;
  lastMs: number;
}

const hourMs = 60 * 60_000;

/** Marks visits, so that their segments are sealed again. Visits of the same hour share a mark. */
export async function markVisits(tx: Db, visits: readonly SealedVisit[]): Promise<void> {
  if (visits.length === 0) return;
  const found = new Map<string, Mark>();
  for (const { workspaceId, at } of visits) {
    const atMs = at.getTime();
    const key = `${workspaceId}/${Math.floor(atMs / hourMs)}`;
    const mark = found.get(key) ?? { workspaceId, firstMs: atMs, lastMs: atMs };
    found.set(key, mark);
    mark.firstMs = Math.min(mark.firstMs, atMs);
    mark.lastMs = Math.max(mark.lastMs, atMs);
  }
  const marks = [...found.values()];
  await sql`
    insert into segment_marks (workspace_id, first_at, last_at, marked_at)
    select workspace_id, to_timestamp(first_ms / 1000), to_timestamp(last_ms / 1000), clock_timestamp()
    from unnest(${plainArray(marks.map(({ workspaceId }) => workspaceId))}::uuid[],
      ${plainArray(marks.map(({ firstMs }) => firstMs))}::float8[],
      ${plainArray(marks.map(({ lastMs }) => lastMs))}::float8[]) as given (workspace_id, first_ms, last_ms)`.execute(
    tx,
  );
}
