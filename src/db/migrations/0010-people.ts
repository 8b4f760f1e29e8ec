import { type Kysely, sql } from "kysely";

/** What people are asked to prove by mail: that they were invited, that an address is theirs, that they sign in. */
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
`;
