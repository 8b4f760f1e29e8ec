import { type Kysely, sql } from "kysely";

/**
 * The tables for workflows with pages: running visits, the data that visitors give, scores, and why events are not counted. A score is stored with
 * its event, because it is written together with the event, once, and each event has at most one.
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

-- Wrong passwords per visit and address, deleted an hour after the first. Unlogged: after a crash everybody has all
-- tries again.
create unlogged table password_attempts (
  workspace_id uuid not null,
  event_id uuid not null,
  address text not null,
  attempts smallint not null,
  first_at timestamptz(3) not null,
  constraint password_attempts_pkey primary key (workspace_id, event_id, address)
);

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
`;
