import { type Kysely, sql } from "kysely";

/** What listing, administering and deleting members reads, and which digest each workspace got last. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
-- Where and how each member last signed in; empty when it is not known.
alter table members
  add column last_known_country text not null default '',
  add column last_known_ip text not null default '',
  add column last_known_language text not null default '',
  add column last_known_timezone text not null default '';

create index members_page_idx on members (workspace_id, created_at desc, id desc);
create index members_admin_idx on members (workspace_id, id) where role = 'ADMIN' and access_revoked_at is null;
create index media_uploaded_by_idx on media (workspace_id, uploaded_by) where uploaded_by is not null;
create index workspace_tokens_created_by_idx on workspace_tokens (workspace_id, created_by)
  where created_by is not null;

-- The last period that the workspace's administrators were told of.
create table workspace_digests (
  workspace_id uuid not null,
  last_day date not null,
  constraint workspace_digests_pkey primary key (workspace_id)
);
`;
