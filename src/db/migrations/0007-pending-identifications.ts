import { type Kysely, sql } from "kysely";

/**
 * Keeps identify calls that name a visit before the visit is stored. A row is deleted when the visit is stored, or
 * after eight days.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create table pending_identifications (
  workspace_id uuid not null,
  event_id uuid not null,
  -- Of the call, and of the trace that it leaves.
  id uuid not null,
  visitor_id uuid not null,
  -- What the trace says.
  data jsonb not null,
  created_at timestamptz(3) not null,
  constraint pending_identifications_pkey primary key (workspace_id, event_id, id)
);
`;
