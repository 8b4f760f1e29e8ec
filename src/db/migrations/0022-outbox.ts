import { type Kysely, sql } from "kysely";

/** Webhooks, and the outbox beneath them and all others that are told of completed steps. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create type subscriber_kind as enum ('WEBHOOK', 'SLACK');
-- DISABLED is the service's own decision. A Slack integration is then called DISCONNECTED.
create type subscriber_status as enum ('ACTIVE', 'PAUSED', 'DISABLED');
create type webhook_source as enum ('API', 'MAKE', 'ZAPIER');
-- Only WAITING messages are sent. MISSED ones were given up when their subscriber was disabled, or had too many waiting.
create type message_status as enum ('WAITING', 'DELIVERED', 'EXHAUSTED', 'MISSED');

-- Who is told of which steps, and how that goes. A webhook or a Slack integration has the same id as its subscriber.
create table outbox_subscribers (
  workspace_id uuid not null,
  id uuid not null,
  kind subscriber_kind not null,
  status subscriber_status not null,
  -- Null for all links. It stays when the link is deleted.
  link_id uuid,
  -- Kinds of steps, such as EXIT; empty for all.
  triggers text[] not null default '{}',
  -- Waiting messages from before this time are missed: the subscriber was disabled in the meantime.
  enabled_at timestamptz(3) not null,
  -- Attempts that were accepted, and all others.
  success_count bigint not null default 0,
  failure_count bigint not null default 0,
  last_sent_at timestamptz(3),
  last_delivered_at timestamptz(3),
  -- The first failure since the last success. Null while all goes well.
  failing_since timestamptz(3),
  -- How many messages ran out of attempts since the last success.
  exhausted_in_row integer not null default 0,
  -- Why the last attempt failed, for people; empty after a success.
  last_error text not null default '',
  constraint outbox_subscribers_pkey primary key (workspace_id, id)
) with (fillfactor = 60);

create table webhooks (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  endpoint_url text not null,
  source webhook_source not null,
  -- 32 bytes each, sealed. The previous one signs along until previous_secret_until.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  created_by uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint webhooks_pkey primary key (workspace_id, id)
);
create index webhooks_page_idx on webhooks (workspace_id, created_at, id);

-- Completed steps that have no messages yet. Storing a visit adds an element to an array here, which costs far less than
-- a row for each message with its indexes. The senders make the messages.
create table outbox_intake (
  workspace_id uuid not null,
  id uuid not null,
  -- The subscribers that were active.
  subscriber_ids uuid[] not null,
  event_ids uuid[] not null,
  -- The completed step of each event. Null for all steps that the first request of a visit completed.
  step_ids uuid[],
  -- How many messages it makes at most.
  messages integer not null,
  created_at timestamptz(3) not null,
  constraint outbox_intake_pkey primary key (workspace_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- Ids do not get smaller.
alter table outbox_intake alter column event_ids set storage external, alter column step_ids set storage external;

-- The subscribers with waiting messages. The table is short: a line goes when nothing waits any more.
create table outbox_lines (
  workspace_id uuid not null,
  subscriber_id uuid not null,
  -- No message is due before.
  due_at timestamptz(3) not null,
  -- Counts up with all that is queued, so that no line goes while messages come.
  revision bigint not null default 0,
  -- The process that sends the messages of the line, and until when nobody else does.
  owner uuid,
  owned_until timestamptz(3),
  constraint outbox_lines_pkey primary key (workspace_id, subscriber_id)
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- One message for each completed trace and subscriber.
create table outbox_messages (
  workspace_id uuid not null,
  subscriber_id uuid not null,
  -- The id of the trace, or one of its own for a test message.
  id uuid not null,
  -- The step that was completed. Null for a test message.
  event_id uuid,
  step_id uuid,
  status message_status not null default 'WAITING',
  -- All attempts so far, and those before the schedule began, which a resent message begins again.
  attempts smallint not null default 0,
  attempts_before smallint not null default 0,
  -- Null for messages that do not wait.
  next_attempt_at timestamptz(3),
  created_at timestamptz(3) not null,
  -- What the first attempt sent, while further attempts may come. Null also when what it told is erased.
  body text,
  constraint outbox_messages_pkey primary key (workspace_id, subscriber_id, id)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index outbox_messages_waiting_idx on outbox_messages (workspace_id, subscriber_id, next_attempt_at, id)
  where next_attempt_at is not null;
create index outbox_messages_given_up_idx on outbox_messages (workspace_id, subscriber_id, status, id)
  where status in ('EXHAUSTED', 'MISSED');
-- Finds what must be erased with a visitor.
create index outbox_messages_body_idx on outbox_messages (workspace_id, event_id) where body is not null;

create table outbox_attempts (
  workspace_id uuid not null,
  subscriber_id uuid not null,
  message_id uuid not null,
  -- From 1.
  number smallint not null,
  at timestamptz(3) not null,
  duration_ms integer not null,
  -- The HTTP status. Null without an answer.
  status smallint,
  is_delivered boolean not null,
  -- Why it failed, for people; empty for an attempt that was accepted.
  reason text not null,
  -- The beginning of the answer's body, cut.
  response text not null,
  constraint outbox_attempts_pkey primary key (workspace_id, subscriber_id, message_id, number)
);
`;
