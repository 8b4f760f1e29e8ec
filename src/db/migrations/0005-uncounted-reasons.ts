import { type Kysely, sql } from "kysely";

/** Events say why they are not counted. Events that were recorded before this migration give no reason. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create type uncounted_reason as enum
  ('CRAWLER', 'LINK_PREVIEW', 'PROGRAM', 'AGENT', 'PREFETCH', 'PREVIEW', 'EMBEDDED');
alter table events add column uncounted_reason uncounted_reason;

-- Few events are not counted; lists of these need not look at all the others.
create index events_uncounted_idx on events (workspace_id, id) where not counted;
`;
