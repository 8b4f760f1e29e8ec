import { type Kysely, sql } from "kysely";

/** What members sign in with besides their passwords. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
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
