import { type Kysely, sql } from "kysely";

/** Finds the sandboxes of a workspace, and those that expire. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
-- Ids are in the order of creation. Deleted sandboxes count among those made in a day.
create index workspaces_parent_idx on workspaces (parent_workspace_id, id) where parent_workspace_id is not null;
create index workspaces_living_sandboxes_idx on workspaces (parent_workspace_id)
  where parent_workspace_id is not null and deleted_at is null;
create index workspaces_expires_at_idx on workspaces (expires_at) where expires_at is not null and deleted_at is null;
`;
