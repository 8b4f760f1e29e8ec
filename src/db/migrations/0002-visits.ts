import { type Kysely, sql } from "kysely";

/**
 * What workflows with pages need: running visits, the data that visitors give, scores, why events are not counted, tries of
 * passwords, identify calls that wait for their visits, and traces that events tell. A score is stored with its event,
 * because it is written together with the event, once, and each event has at most one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create type visitor_attribute_type as enum ('STRING', 'NUMBER', 'BOOLEAN', 'DATE', 'ENUM');

-- Lower case: one person has one profile in a workspace, however the address is spelt.
create unique index visitors_email_key on visitors (workspace_id, email) where email is not null;
create index visitors_phone_idx on visitors (workspace_id, phone, created_at, id) where phone is not null;

create table visitor_attributes (
  workspace_id uuid not null,
  visitor_id uuid not null,
  key text not null,
  type visitor_attribute_type not null,
  value text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint visitor_attributes_pkey primary key (workspace_id, visitor_id, key)
);
create index visitor_attributes_key_idx on visitor_attributes (workspace_id, key, visitor_id);

-- Visits that stopped at an interaction and have not ended. The row is deleted when its visit ends or is abandoned.
create table visits (
  workspace_id uuid not null,
  event_id uuid not null,
  link_id uuid not null,
  -- The interaction where the visitor is.
  step_id uuid not null,
  -- The query parameters of the visitor's first request, without '?'; the destination gets them too.
  query text not null,
  -- The level at the visit's beginning: later changes of the level apply to later visits only.
  data_collection data_collection not null,
  active_at timestamptz(3) not null,
  -- How many answers the visit has taken. By this number they are stored once and in their order, whichever process they come from.
  answers integer not null default 0,
  constraint visits_pkey primary key (workspace_id, event_id)
);
create index visits_active_at_idx on visits (workspace_id, active_at);

create type uncounted_reason as enum
  ('CRAWLER', 'LINK_PREVIEW', 'PROGRAM', 'AGENT', 'PREFETCH', 'PREVIEW', 'EMBEDDED');

alter table events
  add column uncounted_reason uncounted_reason,
  add column lead_score smallint,
  add column engagement_level smallint,
  add column technological_aptitude smallint,
  add column recurring_interest smallint,
  add column brand_supportiveness smallint,
  add column profile_fit smallint,
  add column recurring_scans integer,
  add column scored_at timestamptz(3);

-- Few events are not counted; lists of these need not look at all the others.
create index events_uncounted_idx on events (workspace_id, id) where not counted;

-- The tries at each password step: the wrong ones of the last hour, and those that are being compared now. Each has a
-- time, a number for its visit and address, and a number for its network. One row holds all of them, because one lock
-- must cover everything that limits a try. Unlogged: after a crash everybody has all tries again.
create unlogged table password_attempts (
  workspace_id uuid not null,
  link_id uuid not null,
  step_id uuid not null,
  tried_at timestamptz(3)[] not null,
  visits bigint[] not null,
  networks bigint[] not null,
  constraint password_attempts_pkey primary key (workspace_id, link_id, step_id)
);

-- Identify calls that name a visit before the visit is stored. A row is deleted when the visit is stored, or after eight
-- days.
create table pending_identifications (
  workspace_id uuid not null,
  event_id uuid not null,
  -- Of the call, and of the trace that it leaves.
  id uuid not null,
  visitor_id uuid not null,
  -- What the trace says.
  data jsonb not null,
  created_at timestamptz(3) not null,
  constraint pending_identifications_pkey primary key (workspace_id, event_id, id)
);

-- Most visits are an entry and a redirect, and their events tell all that the two traces would say. Such traces have no
-- rows: two of them took three quarters of a plain visit's bytes.
-- The entry, when the event tells its trace.
alter table events add column entry_step_id uuid;
-- Whether the redirect tracked conversions, when the event tells its trace: the visit ended with its first request.
alter table events add column exit_tracking boolean;

-- All traces of visits, with rows and without. Every statement that shows or counts traces reads this view.
create view visit_traces as
  select workspace_id, event_id, step_id, id, step_action, data, saved_attributes, created_at, completed_at, updated_at
  from traces
  union all
  select workspace_id, id, entry_step_id, overlay(id::text placing '01' from 35)::uuid, 'LINK_VISIT'::event_action,
    jsonb_build_object('entryAccess', jsonb_build_object(
      'accessedAt', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'action', action,
      'entrypoint', entrypoint, 'httpMethod', 'GET', 'visitType', visit_type)),
    null::jsonb, created_at, created_at, created_at
  from events where entry_step_id is not null
  union all
  select workspace_id, id,
    case outcome when 'FALLBACK' then '00000000-0000-0000-0000-000000000000'::uuid else last_step_id end,
    overlay(id::text placing 'ff' from 35)::uuid, 'CLIENT_REDIRECT'::event_action,
    jsonb_build_object('redirect', jsonb_build_object(
      'destination', destination, 'conversionTracking', exit_tracking, 'fallback', outcome = 'FALLBACK')),
    null::jsonb, created_at, created_at, created_at
  from events where exit_tracking is not null;
`;
