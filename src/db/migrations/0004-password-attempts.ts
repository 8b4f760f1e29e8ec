import { type Kysely, sql } from "kysely";

/**
 * Wrong passwords are counted by step: a visit costs nothing, so a budget that each visit has for itself is none. What was
 * counted before is forgotten, as it would be an hour later.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
drop table password_attempts;

-- The wrong tries of the last hour at each password step, and those that are being compared at this moment: when, by which
-- visit and address, and from which network, as numbers made of them. One row, because one lock must cover all that a try
-- is counted by. Unlogged: after a crash everybody has all tries again.
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
