import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { reservationMs } from "../../model/links/shortlink.ts";
import { noWorkspace } from "../../model/no-workspace.ts";

/** The most reservations that one statement deletes. */
const reservationsMax = 10_000;

/**
 * The start of the statement that takes short links from a purged workspace, without a condition. Nobody else gets them
 * until their reservation is over, so their rows stay, and name neither the workspace nor the link.
 */
export function reserveForNobody(at: Date): RawBuilder<unknown> {
  return sql`update shortlinks set workspace_id = ${noWorkspace}, link_id = ${noWorkspace},
    released_at = coalesce(released_at, ${at})`;
}

/**
 * Deletes some reservations of purged workspaces that are over, and returns how many. A row that somebody claims at this
 * moment is left.
 */
export async function deleteOldReservations(db: Db, now: Date): Promise<number> {
  const releasedBefore = new Date(now.getTime() - reservationMs);
  const { numAffectedRows = 0n } = await sql`
    delete from shortlinks where (host, shortlink) in (
      select host, shortlink from shortlinks
      where workspace_id = ${noWorkspace} and released_at < ${releasedBefore}
      limit ${reservationsMax} for update skip locked)`.execute(db);
  return Number(numAffectedRows);
}
