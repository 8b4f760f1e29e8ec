import { type Kysely, sql } from "kysely";

/** The authorization server: who may ask for access, what was granted, and the keys that sign access tokens. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
-- Programs that registered themselves (RFC 7591). Those that name a document of theirs have no row.
create table oauth_clients (
  id uuid not null,
  name text not null,
  redirect_uris text[] not null,
  -- Empty when the program gave none.
  client_uri text not null,
  -- How the program proves itself at the token endpoint. Its secret is derived from its id and is not stored.
  auth_method text not null,
  created_at timestamptz(3) not null,
  -- The day of its last grant or token, or of its registration.
  used_at timestamptz(3) not null,
  constraint oauth_clients_pkey primary key (id)
);
create index oauth_clients_used_idx on oauth_clients (used_at);

-- What a member, or a registration of an agent, has granted to a program. Ended grants have no row.
create table oauth_grants (
  workspace_id uuid not null,
  id uuid not null,
  -- The id of a registered program, the address of a program's document, or the id of an agent's registration.
  client_id text not null,
  client_name text not null,
  -- Null for an agent whose workspace nobody has claimed yet.
  member_id uuid,
  scope text not null,
  -- The one resource that tokens of the grant are for. Null when each request for a token says which.
  resource text,
  -- The redirect URI and the PKCE challenge of the code. Null for agents, which get no code.
  redirect_uri text,
  code_challenge text,
  code_expires_at timestamptz(3),
  -- Number of the newest refresh token; 0 before the first one. The tokens themselves are derived and not stored.
  refresh_number integer not null default 0,
  -- The grant ends by itself at this time: when its code or its newest refresh token does.
  expires_at timestamptz(3) not null,
  -- The latest expiry of its access tokens.
  tokens_until timestamptz(3) not null,
  created_at timestamptz(3) not null,
  -- When a token was issued last.
  used_at timestamptz(3) not null,
  constraint oauth_grants_pkey primary key (workspace_id, id)
);
create index oauth_grants_member_idx on oauth_grants (workspace_id, member_id);

-- Keys that sign access tokens. Everybody may know the public part.
create table oauth_keys (
  id uuid not null,
  -- SubjectPublicKeyInfo, in DER.
  public_key bytea not null,
  -- PKCS #8, in DER, sealed.
  private_key bytea not null,
  created_at timestamptz(3) not null,
  constraint oauth_keys_pkey primary key (id)
);
`;
