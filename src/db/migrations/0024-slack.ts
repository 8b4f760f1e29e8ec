import { type Kysely, sql } from "kysely";

/** The Slack team that a workspace is connected to. Filters and counters stand in outbox_subscribers, under the same id. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create table slack_integrations (
  workspace_id uuid not null,
  id uuid not null,
  -- A caller's wish. Without a channel the subscriber is paused, too.
  is_paused boolean not null default false,
  team_id text not null,
  team_name text not null,
  -- Empty until a channel is chosen.
  channel_id text not null default '',
  channel_name text not null default '',
  -- Sealed.
  bot_token bytea not null,
  -- SHA-256. All workspaces that are connected to one team have the same token, and the last one revokes it.
  token_hash bytea not null,
  -- Why Slack refused the last message; empty when it accepted it.
  last_error text not null default '',
  created_by uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint slack_integrations_pkey primary key (workspace_id)
);
create index slack_integrations_token_idx on slack_integrations (token_hash);
`;
