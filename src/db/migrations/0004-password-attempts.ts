import { type Kysely, sql } from "kysely";

/**
 * Counts wrong passwords by step. A limit per visit stops nobody, because a new visit costs nothing. Earlier counts are
 * dropped; they would expire within an hour anyway.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
drop table password_attempts;

-- The tries at each password step: the wrong ones of the last hour, and those that are being compared now. Each has a
-- time, a number for its visit and address, and a number for its network. One row holds all of them, because one lock
-- must cover everything that limits a try. Unlogged: after a crash everybody has all tries again.
create unlogged table password_attempts (
  workspace_id uuid not null,
  link_id uuid not null,
  step_id uuid not null,
  tried_at timestamptz(3)[] not null,
  visits bigint[] not null,
  networks bigint[] not null,
  constraint password_attempts_pkey primary key (workspace_id, link_id, step_id)
);
`;
