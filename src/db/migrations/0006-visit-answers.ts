import { type Kysely, sql } from "kysely";

/**
 * Answers of a visit are stored in their order, from whichever process they come, and each once: the visit says how many it
 * has taken.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table visits add column answers integer not null default 0").execute(db);
}
