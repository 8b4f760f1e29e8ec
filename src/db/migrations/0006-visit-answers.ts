import { type Kysely, sql } from "kysely";

/**
 * A visit counts the answers that it has taken. By this number the answers of a visit are stored once and in their
 * order, whichever process they come from.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table visits add column answers integer not null default 0").execute(db);
}
