import { type Kysely, sql } from "kysely";

/**
 * What people are asked to prove by mail (that they were invited, that an address is theirs, that they sign in), what they
 * sign in with, what workspaces say about themselves, and what deleting both reads.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create type member_challenge_kind as enum ('INVITATION', 'EMAIL_CONFIRMATION', 'SIGN_IN_CODE', 'PASSWORD_RESET');

-- Nothing in it is secret: links and codes are made from the id with a key of the master secret.
create table member_challenges (
  workspace_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  kind member_challenge_kind not null,
  -- The address that gets the link or the code.
  email text not null,
  -- How many wrong codes were tried.
  tries smallint not null default 0,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint member_challenges_pkey primary key (workspace_id, id)
);
create index member_challenges_member_idx on member_challenges (workspace_id, member_id, kind, created_at);

-- Finds the sign-ups that nobody accepted.
create index members_pending_admin_idx on members (workspace_id)
  where role = 'ADMIN' and password_hash is null and email_verified_at is null;

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

create table member_passkeys (
  workspace_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  -- The name that the authenticator gave it, and its public key in COSE.
  credential_id bytea not null,
  public_key bytea not null,
  transports text[] not null default '{}',
  sign_count bigint not null,
  -- When the last accepted challenge was made: an older one is never accepted again.
  challenged_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint member_passkeys_pkey primary key (workspace_id, id),
  constraint member_passkeys_credential_key unique (workspace_id, member_id, credential_id)
);
`;
