import { type Kysely, sql } from "kysely";

/** Conversations with the assistant: messages, files for the next message, and changes that wait for a confirmation. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create type assistant_context as enum ('ANALYTICS_DASHBOARD', 'WORKFLOW', 'LINK', 'QRCODE_DESIGN', 'PAGE_THEME',
  'LINK_ANALYTICS', 'LEAD_SCORE', 'WORKSPACE');

-- The last messages of each conversation. A workspace has one conversation for each context.
create table assistant_messages (
  workspace_id uuid not null,
  context_type assistant_context not null,
  context_id uuid not null,
  -- The order of the messages.
  place bigint generated always as identity,
  id uuid not null,
  is_from_user boolean not null,
  text text not null,
  -- Names and media types of the files that came with the message, as JSON.
  attachments text not null default '[]',
  -- The buttons below the message, as JSON.
  ui_actions text not null default '[]',
  -- Whether texts of strangers may have shaped the message. A model that reads it may change nothing by itself.
  is_tainted boolean not null,
  -- The token, the member or the grant that sent the message, or got the answer. To all others its text is a stranger's.
  caller_id text collate "C" not null,
  read_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint assistant_messages_pkey primary key (workspace_id, context_type, context_id, place)
);

-- Files that wait for the next message of the caller who sent them.
create table assistant_uploads (
  workspace_id uuid not null,
  -- The token, the member or the grant.
  caller_id text collate "C" not null,
  id uuid not null,
  name text not null,
  mime_type text not null,
  content bytea not null,
  expires_at timestamptz(3) not null,
  constraint assistant_uploads_pkey primary key (workspace_id, caller_id, id)
);
create index assistant_uploads_expires_at_idx on assistant_uploads (workspace_id, expires_at);

-- Calls that the assistant has offered, as buttons, to the caller of its answer.
create table assistant_proposals (
  workspace_id uuid not null,
  id uuid not null,
  context_type assistant_context not null,
  context_id uuid not null,
  caller_id text collate "C" not null,
  -- Such as links_update.
  tool text not null,
  -- The request, in the JSON that the caller was shown.
  request text not null,
  expires_at timestamptz(3) not null,
  constraint assistant_proposals_pkey primary key (workspace_id, id)
);
create index assistant_proposals_expires_at_idx on assistant_proposals (workspace_id, expires_at);

-- How many messages were sent in the last minute in which there was one.
create table assistant_minutes (
  workspace_id uuid not null,
  minute timestamptz(3) not null,
  used integer not null,
  constraint assistant_minutes_pkey primary key (workspace_id)
) with (fillfactor = 60);
`;
