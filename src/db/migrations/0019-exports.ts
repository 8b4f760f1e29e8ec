import { type Kysely, sql } from "kysely";

/** Files of events that calls ask for, and how far each is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create type export_format as enum ('CSV', 'NDJSON', 'PARQUET');

create table exports (
  workspace_id uuid not null,
  id uuid not null,
  format export_format not null,
  link_id uuid,
  -- Both inclusive.
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  status job_status not null,
  -- The run that may write to this row. A new one takes it away from the one before.
  run uuid,
  -- How many times the export was begun.
  runs smallint not null default 0,
  row_count bigint not null default 0,
  size_bytes bigint not null default 0,
  -- Hexadecimal.
  sha256 text not null default '',
  -- Only once the whole file is there.
  storage_key text,
  error_code text not null default '',
  error_message text not null default '',
  created_at timestamptz(3) not null,
  completed_at timestamptz(3),
  -- From then on nobody reads it, and a job deletes it.
  expires_at timestamptz(3),
  constraint exports_pkey primary key (workspace_id, id)
);
-- A workspace makes one export at a time.
create unique index exports_running_key on exports (workspace_id) where completed_at is null;
create index exports_expires_at_idx on exports (workspace_id, expires_at) where expires_at is not null;
`;
