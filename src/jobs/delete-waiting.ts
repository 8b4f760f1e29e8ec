import { sql } from "kysely";
import type { Db } from "../db/open.ts";

/** Deletes files that no message of the assistant took in time, and offers that nobody confirmed. */
export async function deleteWaiting(db: Db, now: Date): Promise<void> {
  await sql`delete from assistant_uploads where expires_at <= ${now}`.execute(db);
  await sql`delete from assistant_proposals where expires_at <= ${now}`.execute(db);
}
