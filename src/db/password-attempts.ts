import { sql } from "kysely";
import type { Db } from "./open.ts";

/** Who tries: a visit, from one address. */
export interface Trier {
  readonly workspaceId: string;
  readonly eventId: string;
  readonly address: string;
}

/** Tries that a visit has from one address, and for how long. */
const attemptsMax = 5;
const attemptsWindow = "15 minutes";

/** Beyond the window, so that clocks of several machines which disagree give nobody tries back early. */
const keptFor = "1 hour";

/**
 * Takes one try of a password, before anything is compared. Answers 0, or in how many seconds there is another try. At
 * most six statements race for the row of one visit and address, and each of them counts.
 */
export async function takePasswordAttempt(
  db: Db,
  { workspaceId, eventId, address }: Trier,
  now: Date,
): Promise<number> {
  const { rows } = await sql<{ attempts: number; seconds: number }>`
    insert into password_attempts as p (workspace_id, event_id, address, attempts, first_at)
    values (${workspaceId}, ${eventId}, ${address}, 1, ${now})
    on conflict (workspace_id, event_id, address) do update set
      attempts = case when p.first_at <= excluded.first_at - ${attemptsWindow}::interval then 1
        else least(p.attempts + 1, ${attemptsMax} + 1) end,
      first_at = case when p.first_at <= excluded.first_at - ${attemptsWindow}::interval then excluded.first_at
        else p.first_at end
    returning attempts,
      ceil(extract(epoch from first_at + ${attemptsWindow}::interval - ${now}::timestamptz))::int as seconds`.execute(
    db,
  );
  const [row] = rows;
  return row === undefined || row.attempts <= attemptsMax ? 0 : Math.max(1, row.seconds);
}

/** Gives the tries back once the password was right. */
export async function forgetPasswordAttempts(
  db: Db,
  { workspaceId, eventId, address }: Trier,
): Promise<void> {
  await sql`delete from password_attempts
    where workspace_id = ${workspaceId} and event_id = ${eventId} and address = ${address}`.execute(db);
}

/**
 * Deletes tries whose time is long over, of visits that were given up above all; answers how many, 10,000 at most. It reads
 * the whole table, which holds the tries of an hour or two: an index would cost each try more.
 */
export async function deleteOldPasswordAttempts(db: Db, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from password_attempts where (workspace_id, event_id, address) in (
      select workspace_id, event_id, address from password_attempts
      where first_at <= ${now}::timestamptz - ${keptFor}::interval
      limit 10000 for update skip locked)`.execute(db);
  return Number(numAffectedRows);
}
