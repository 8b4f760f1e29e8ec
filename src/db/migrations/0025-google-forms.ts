import { type Kysely, sql } from "kysely";

/** Google accounts that workspaces are connected to, and how far the responses of their forms were fetched. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create type google_forms_status as enum ('ACTIVE', 'PAUSED', 'DISCONNECTED');

create table google_forms_integrations (
  workspace_id uuid not null,
  id uuid not null,
  status google_forms_status not null,
  google_email text not null,
  -- The account's id at Google.
  google_subject text not null,
  -- Sealed for this row.
  refresh_token bytea not null,
  created_by uuid,
  -- What keeps responses from being fetched, and what to do about it. Empty while they are fetched.
  last_error text not null default '',
  last_synced_at timestamptz(3),
  responses_synced bigint not null default 0,
  visitors_enriched bigint not null default 0,
  -- The next turn of the job that fetches responses.
  next_sync_at timestamptz(3) not null,
  -- In a round every form has a turn: those that were asked since then have had theirs. Null between rounds.
  round_began_at timestamptz(3),
  -- The run that may fetch, and until when. A later run takes it over.
  run uuid,
  run_until timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- A workspace has one.
  constraint google_forms_integrations_pkey primary key (workspace_id)
);

-- What is known of a form. It stays when the account is disconnected, so that no response is ever applied twice.
create table google_forms (
  workspace_id uuid not null,
  form_id text not null,
  -- The id in the form's public address. Empty until the form was read.
  published_id text not null default '',
  accessible boolean not null,
  -- The time of the newest response of the last complete listing, as Google wrote it: it is more exact than a
  -- timestamp. Empty before the first.
  watermark text not null default '',
  -- Where an unfinished listing goes on, and the newest time that it has seen.
  page_token text not null default '',
  newest_seen text not null default '',
  asked_at timestamptz(3) not null,
  constraint google_forms_pkey primary key (workspace_id, form_id)
);

-- The responses that were applied, with the time of their last edit.
create table google_forms_responses (
  workspace_id uuid not null,
  form_id text not null,
  response_id text not null,
  submitted_at text not null,
  constraint google_forms_responses_pkey primary key (workspace_id, form_id, response_id)
);

-- Redirects that may lead to a form. Hardly any do, so that the index is small.
create index workflow_steps_google_forms_idx on workflow_steps (workspace_id, link_id, id)
  where event_action = 'CLIENT_REDIRECT'
    and payload ->> 'destination' ~* '^https?://(docs[.]google[.]com|forms[.]gle|goo[.]gl)/';
`;
