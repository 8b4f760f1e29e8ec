import { type Kysely, sql } from "kysely";

/** The outcomes of background work that calls start. The queue itself belongs to the job runner. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create type job_type as enum ('LINKS_BULK_CREATE', 'WEBHOOK_REPLAY');
create type job_status as enum ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED');

create table jobs (
  workspace_id uuid not null,
  id uuid not null,
  type job_type not null,
  status job_status not null,
  item_count integer not null,
  -- The request, in a form of the job's type, until the job is finished.
  request bytea,
  -- How many times the job was begun.
  runs smallint not null default 0,
  link_ids uuid[] not null default '{}',
  error_code text not null default '',
  error_message text not null default '',
  created_at timestamptz(3) not null,
  completed_at timestamptz(3),
  constraint jobs_pkey primary key (workspace_id, id)
);
create index jobs_completed_at_idx on jobs (workspace_id, completed_at) where completed_at is not null;
`;
