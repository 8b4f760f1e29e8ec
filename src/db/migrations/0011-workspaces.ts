import { type Kysely, sql } from "kysely";

/** What workspaces say about themselves, and what deleting, restoring and purging them needs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
alter table workspaces
  -- Texts for the operator and the assistant. No answer contains them.
  add column origin_inquiry text not null default '',
  add column origin_purpose text not null default '',
  add column enroll_message text not null default '',
  -- From then on nothing is written to the workspace, and nobody can restore it.
  add column purge_began_at timestamptz(3);
create index workspaces_deleted_at_idx on workspaces (deleted_at) where deleted_at is not null;

-- A restored workspace keeps its row, because processes read only the rows that are new: revoked_at then tells when it
-- was restored.
alter table revocations add column restored boolean not null default false;
-- When all tokens of the subject have expired, so that nobody has to remember the revocation; null for never.
alter table revocations add column forget_at timestamptz(3);
create index revocations_forget_at_idx on revocations (forget_at) where forget_at is not null;

-- A purge finds the rows of a workspace in global tables too.
create index shortlinks_workspace_idx on shortlinks (workspace_id);
create index member_emails_workspace_idx on member_emails (workspace_id);
create index domain_names_workspace_idx on domain_names (workspace_id);
create index qrcode_template_slugs_workspace_idx on qrcode_template_slugs (workspace_id);
`;
