import { type Kysely, sql } from "kysely";

/** Finds the sandboxes of a workspace and those that expire, and counts how many a workspace makes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
alter table workspaces
  -- How many sandboxes the workspace has made on a day, in UTC. Those that were deleted count, and their rows are gone.
  add column sandboxes_made integer not null default 0,
  add column sandboxes_made_on date;
create index workspaces_parent_idx on workspaces (parent_workspace_id) where parent_workspace_id is not null;
create index workspaces_expires_at_idx on workspaces (expires_at) where expires_at is not null and deleted_at is null;
`;
