import { type Kysely, sql } from "kysely";

/** Certificates of custom domains and of the service's own hosts, and how they are got from authorities (RFC 8555). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
-- Global: the service has one account at each authority.
create table certificate_authorities (
  -- The address of the authority's directory.
  directory text not null,
  -- Empty until the authority knows the account.
  account_url text not null default '',
  -- The account's key, sealed for this row.
  private_key bytea not null,
  -- Nobody asks the authority before: it is away, or said so.
  paused_until timestamptz(3),
  -- How often in a row the authority did not answer.
  failures integer not null default 0,
  created_at timestamptz(3) not null,
  constraint certificate_authorities_pkey primary key (directory)
);

-- Global: a name has one certificate, whichever workspace holds the name.
create table certificates (
  name text not null,
  -- The certificate and those of its authorities in PEM, and the key, sealed for this row. Null before the first.
  chain text,
  private_key bytea,
  not_before timestamptz(3),
  not_after timestamptz(3),
  -- The authority that signed it, and the certificate's name there (RFC 9773).
  directory text not null default '',
  renewal_id text not null default '',
  -- When the next one is ordered.
  renew_at timestamptz(3),
  -- When somebody looks at the row again. Null while nobody wants a certificate for the name.
  next_at timestamptz(3),
  -- How many orders failed since the last certificate, and why the last one did.
  failures integer not null default 0,
  last_error text not null default '',
  -- The run that orders, and until when. A later run takes it over.
  run uuid,
  run_until timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint certificates_pkey primary key (name)
);

create index certificates_next_idx on certificates (next_at) where next_at is not null;

-- Global: whatever process the authority reaches answers it.
create table certificate_challenges (
  name text not null,
  token text not null,
  -- The answer over HTTP.
  key_authorization text not null,
  -- The answer over TLS (RFC 8737): a certificate that nobody trusts, and its key, in PEM.
  chain text not null,
  private_key text not null,
  expires_at timestamptz(3) not null,
  constraint certificate_challenges_pkey primary key (name, token)
);
`;
