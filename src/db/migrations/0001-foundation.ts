import { type Kysely, sql } from "kysely";

/**
 * The first schema. Primary keys, unique keys and nearly all indexes of tenant tables begin with `workspace_id`, so that
 * the schema can be distributed by workspace; tables without it are global. Ids are UUIDv7, whose first 48 bits are the
 * milliseconds of `created_at`. `events` and `traces` are partitioned by month on the event's id, and id order is time
 * order.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create type data_collection as enum ('NONE', 'BASIC', 'ADVANCED');
create type environment as enum ('live', 'test');
create type subscription_type as enum
  ('UNSPECIFIED', 'FREE_TRIAL', 'SPONSORED_PRO', 'PRO_PLAN', 'ENTERPRISE_PLAN', 'LIGHT_PLAN');
create type digest_frequency as enum ('UNSPECIFIED', 'NONE', 'WEEKLY', 'MONTHLY');
create type member_role as enum ('VIEWER', 'ADMIN', 'TECH');
create type token_key_type as enum ('SECRET', 'PUBLISHABLE');
create type custom_domain_status as enum
  ('INACTIVE', 'DOMAIN_PENDING', 'VERIFICATION_PENDING', 'CERTIFICATE_PENDING', 'ACTIVE', 'RENEWAL_PENDING', 'EXPIRED');
create type event_action as enum
  ('CLIENT_REDIRECT', 'LINK_VISIT', 'PASSWORD_VERIFY', 'FORM_SUBMIT', 'CONTACT_CARD', 'MULTI_LINK',
   'VISIT_TYPE_CONDITION', 'COUNTRY_CONDITION', 'DAY_OF_WEEK_CONDITION', 'TIME_OF_DAY_CONDITION',
   'DAY_OF_MONTH_CONDITION', 'SPECIFIC_DATE_CONDITION', 'SOCIAL_LINKS_PAGE', 'DEVICE_TYPE_CONDITION',
   'DEVICE_PLATFORM_CONDITION', 'DEVICE_BROWSER_CONDITION', 'DEVICE_BRAND_CONDITION', 'DEVICE_ACTOR_CONDITION',
   'VISITOR_DATA_CONDITION', 'THANK_YOU_PAGE', 'MESSAGE_PAGE');
create type action as enum ('SCAN', 'CLICK');
create type visit_type as enum ('FIRST', 'RETURNING');
create type device_type as enum ('NATIVE', 'MOBILE', 'TABLET', 'DESKTOP', 'UNKNOWN');
create type device_actor as enum ('HUMAN', 'BOT', 'AGENT', 'UNKNOWN');
create type journey_outcome as enum ('IN_PROGRESS', 'COMPLETED', 'ABANDONED', 'FALLBACK');

create table workspaces (
  id uuid primary key,
  parent_workspace_id uuid,
  environment environment not null default 'live',
  name text not null,
  slug text,
  description text not null default '',
  short_description text not null default '',
  website text not null default '',
  tags text not null default '',
  faq text not null default '',
  country text not null default '',
  timezone text not null default 'UTC',
  subscription_type subscription_type not null default 'UNSPECIFIED',
  digest_frequency digest_frequency not null default 'UNSPECIFIED',
  enforce_mfa boolean not null default false,
  link_setting_id uuid not null,
  trial_ends_at timestamptz(3),
  verified_at timestamptz(3),
  enroll_requested_at timestamptz(3),
  published_at timestamptz(3),
  inactive_since timestamptz(3),
  expires_at timestamptz(3),
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint workspaces_slug_key unique (slug)
);

create table link_settings (
  workspace_id uuid not null,
  id uuid not null,
  data_collection data_collection not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint link_settings_pkey primary key (workspace_id, id)
);

create table members (
  workspace_id uuid not null,
  id uuid not null,
  email text not null,
  first_name text not null default '',
  last_name text not null default '',
  display_language text not null default '',
  role member_role not null,
  password_hash text,
  -- A greater epoch ends all sessions that began before, except the kept one. Ended ones are those of the last 30 days.
  session_epoch integer not null default 0,
  kept_session_id uuid,
  ended_session_ids uuid[] not null default '{}',
  email_verified_at timestamptz(3),
  access_revoked_at timestamptz(3),
  last_signin_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint members_pkey primary key (workspace_id, id)
);

-- Global: an e-mail address signs in to one workspace of the whole service.
create table member_emails (
  email text not null,
  workspace_id uuid not null,
  member_id uuid not null,
  constraint member_emails_pkey primary key (email)
);

create table workspace_tokens (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  key_type token_key_type not null,
  scope text not null,
  token_hash bytea not null,
  created_by uuid,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint workspace_tokens_pkey primary key (workspace_id, id)
);
create index workspace_tokens_page_idx on workspace_tokens (workspace_id, created_at desc, id desc)
  where revoked_at is null;

-- Global: every process keeps this list in memory; a token's workspace is known only after its signature was checked.
create table revocations (
  subject uuid not null,
  revoked_at timestamptz(3) not null,
  constraint revocations_pkey primary key (subject)
);
create index revocations_revoked_at_idx on revocations (revoked_at);

-- Global, like revocations: scopes that were changed after the token was made, so that its claims do not have them.
create table changed_scopes (
  token_id uuid not null,
  scope text not null,
  version integer not null,
  changed_at timestamptz(3) not null,
  constraint changed_scopes_pkey primary key (token_id)
);
create index changed_scopes_changed_at_idx on changed_scopes (changed_at);

create table idempotency_keys (
  workspace_id uuid not null,
  caller text not null,
  target text not null,
  key text not null,
  fingerprint bytea not null,
  outcome bytea not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  constraint idempotency_keys_pkey primary key (workspace_id, caller, target, key)
);
create index idempotency_keys_expires_at_idx on idempotency_keys (workspace_id, expires_at);

-- Unlogged: after a crash every bucket is full again.
create unlogged table rate_limits (
  workspace_id uuid not null,
  bucket text not null,
  tokens double precision not null,
  refilled_at timestamptz(3) not null,
  constraint rate_limits_pkey primary key (workspace_id, bucket)
);

-- Global: hosts that no destination may lead to; operators maintain the list.
create table blocked_hosts (
  host text not null,
  reason text not null,
  created_at timestamptz(3) not null,
  constraint blocked_hosts_pkey primary key (host)
);

create table directories (
  workspace_id uuid not null,
  id uuid not null,
  parent_directory_id uuid,
  name text not null,
  -- The name in lower case: no two siblings have the same.
  name_key text not null,
  -- In byte order, so that everything below a directory is one range.
  path text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint directories_pkey primary key (workspace_id, id),
  constraint directories_name_key unique nulls not distinct (workspace_id, parent_directory_id, name_key)
);
create index directories_page_idx on directories (workspace_id, parent_directory_id, created_at, id);
-- An index takes values of 2,704 bytes at most, and a path can have 4,036.
create index directories_path_idx on directories (workspace_id, left(path, 200));

create table custom_domains (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  status custom_domain_status not null,
  root_destination text not null default '',
  last_error text not null default '',
  last_checked_at timestamptz(3),
  activated_at timestamptz(3),
  certificate_expires_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint custom_domains_pkey primary key (workspace_id, id)
);

-- Global: a domain name belongs to one workspace of the whole service.
create table domain_names (
  name text not null,
  workspace_id uuid not null,
  custom_domain_id uuid not null,
  constraint domain_names_pkey primary key (name)
);

create table page_themes (
  workspace_id uuid not null,
  id uuid not null,
  styling jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint page_themes_pkey primary key (workspace_id, id)
);
create index page_themes_page_idx on page_themes (workspace_id, created_at, id);

create table qrcode_designs (
  workspace_id uuid not null,
  id uuid not null,
  link_id uuid,
  options jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint qrcode_designs_pkey primary key (workspace_id, id)
);

create table qrcode_templates (
  workspace_id uuid not null,
  id uuid not null,
  qrcode_design_id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint qrcode_templates_pkey primary key (workspace_id, id)
);

create table links (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  shortlink text not null,
  custom_domain_id uuid,
  directory_id uuid,
  fallback_destination text not null default '',
  purpose text not null default '',
  metadata jsonb not null default '{}',
  page_theme_id uuid,
  page_theme_template_id uuid,
  qrcode_design_id uuid not null,
  qrcode_template_id uuid,
  qrcode_image_key text,
  qrcode_pending_update_since timestamptz(3),
  expires_at timestamptz(3),
  expired_destination text not null default '',
  -- When the link was deleted, or taken out after its expiry; expires_at tells which.
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint links_pkey primary key (workspace_id, id)
);
-- Includes the column that counting needs, so that it reads no row.
create index links_created_at_idx on links (workspace_id, created_at, id) include (expires_at) where deleted_at is null;
create index links_updated_at_idx on links (workspace_id, updated_at, id) where deleted_at is null;
create index links_name_idx on links (workspace_id, name, id) where deleted_at is null;
create index links_shortlink_idx on links (workspace_id, shortlink, id) where deleted_at is null;
create index links_directory_idx on links (workspace_id, directory_id, created_at, id) where deleted_at is null;
create index links_expires_at_idx on links (workspace_id, expires_at)
  where deleted_at is null and expires_at is not null;

-- The links that a workspace has: every statement that shows or changes links for a caller reads this view.
create view living_links as select * from links
  where deleted_at is null and (expires_at is null or expires_at > now());

-- Short links are unique per host, and a scan knows only host and short link. The default short domain is ''. Those of a
-- purged workspace belong to no workspace until their reservation is over.
create table shortlinks (
  host text not null,
  shortlink text not null,
  workspace_id uuid not null,
  link_id uuid not null,
  released_at timestamptz(3),
  constraint shortlinks_pkey primary key (host, shortlink)
);

create table tags (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  name_key text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint tags_pkey primary key (workspace_id, id),
  constraint tags_name_key unique (workspace_id, name_key)
);
create index tags_page_idx on tags (workspace_id, created_at, id);

create table link_tags (
  workspace_id uuid not null,
  link_id uuid not null,
  tag_id uuid not null,
  position smallint not null,
  constraint link_tags_pkey primary key (workspace_id, link_id, tag_id)
);
create index link_tags_tag_idx on link_tags (workspace_id, tag_id, link_id);

create table workflow_steps (
  workspace_id uuid not null,
  link_id uuid not null,
  id uuid not null,
  event_action event_action not null,
  payload jsonb not null,
  attribute_capture jsonb,
  canvas_x double precision not null,
  canvas_y double precision not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint workflow_steps_pkey primary key (workspace_id, link_id, id)
);

create table workflow_connections (
  workspace_id uuid not null,
  link_id uuid not null,
  step_id uuid not null,
  branch_id text not null,
  next_step_id uuid not null,
  constraint workflow_connections_pkey primary key (workspace_id, link_id, step_id, branch_id)
);

-- Visits update some rows again and again. The pages of such tables leave room for it (fillfactor), and except for the
-- order of links no index covers a changing column, so an update stays in its page and touches no index.
create table devices (
  workspace_id uuid not null,
  id uuid not null,
  visitor_id uuid,
  fingerprint bytea,
  device_type device_type not null,
  device_actor device_actor not null,
  device_actor_name text not null default '',
  device_actor_origin text not null default '',
  device_brand text not null default '',
  device_name text not null default '',
  browser_name text not null default '',
  browser_version text not null default '',
  browser_language text not null default '',
  platform_name text not null default '',
  platform_version text not null default '',
  user_agent text not null default '',
  ip_address text not null default '',
  country text not null default '',
  region text not null default '',
  city text not null default '',
  timezone text not null default '',
  isp text not null default '',
  asn bigint not null default 0,
  -- What pages have told. Null as long as no page has.
  screen_width float8,
  screen_height float8,
  screen_ratio float8,
  touch_screen boolean,
  gpu text,
  device_memory float8,
  device_concurrency integer,
  network_connection text,
  network_bandwidth float8,
  network_rtt float8,
  last_used_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint devices_pkey primary key (workspace_id, id)
) with (fillfactor = 60);
create index devices_fingerprint_idx on devices (workspace_id, fingerprint, id) where fingerprint is not null;
create index devices_visitor_idx on devices (workspace_id, visitor_id) where visitor_id is not null;

-- A browser that lost its cookie is matched by fingerprint and gets a second cookie for the same device.
create table device_cookies (
  workspace_id uuid not null,
  cookie_hash bytea not null,
  device_id uuid not null,
  constraint device_cookies_pkey primary key (workspace_id, cookie_hash)
);

-- Which device reached which link first, and with which event: this separates first visits from returning ones.
create table device_links (
  workspace_id uuid not null,
  link_id uuid not null,
  device_id uuid not null,
  first_event_id uuid not null,
  constraint device_links_pkey primary key (workspace_id, link_id, device_id)
);

create table visitors (
  workspace_id uuid not null,
  id uuid not null,
  email text,
  phone text,
  first_name text,
  last_name text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint visitors_pkey primary key (workspace_id, id)
);
create index visitors_page_idx on visitors (workspace_id, created_at, id);

create table events (
  workspace_id uuid not null,
  id uuid not null,
  link_id uuid not null,
  device_id uuid not null,
  visitor_id uuid,
  action action not null,
  visit_type visit_type not null,
  counted boolean not null,
  entrypoint text not null,
  destination text not null default '',
  destination_action event_action,
  steps_total smallint not null,
  steps_reached smallint not null,
  last_step_id uuid,
  outcome journey_outcome not null,
  -- How many seconds after its time the visit was stored. Null up to a minute, and then it takes no room.
  late_seconds integer,
  ended_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint events_pkey primary key (workspace_id, id)
) partition by range (id);
create index events_link_idx on events (workspace_id, link_id, id);
create index events_visitor_idx on events (workspace_id, visitor_id, id) where visitor_id is not null;
create index events_late_idx on events (workspace_id, id) where late_seconds is not null;

create table traces (
  workspace_id uuid not null,
  event_id uuid not null,
  step_id uuid not null,
  id uuid not null,
  step_action event_action,
  data jsonb not null,
  saved_attributes jsonb,
  created_at timestamptz(3) not null,
  completed_at timestamptz(3),
  updated_at timestamptz(3) not null,
  constraint traces_pkey primary key (workspace_id, event_id, step_id)
) partition by range (event_id);

create table events_default partition of events default;
create table traces_default partition of traces default;

-- Roll-ups: aggregates of counted events, which the writer of events updates in the same transaction.
create table link_counters (
  workspace_id uuid not null,
  link_id uuid not null,
  event_count bigint not null default 0,
  constraint link_counters_pkey primary key (workspace_id, link_id)
) with (fillfactor = 60);
create index link_counters_sort_idx on link_counters (workspace_id, event_count, link_id);

create table visitor_links (
  workspace_id uuid not null,
  visitor_id uuid not null,
  link_id uuid not null,
  event_count bigint not null,
  first_visited_at timestamptz(3) not null,
  last_visited_at timestamptz(3) not null,
  constraint visitor_links_pkey primary key (workspace_id, visitor_id, link_id)
) with (fillfactor = 60);
`;
