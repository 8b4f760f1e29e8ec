import { type Kysely, sql } from "kysely";

/** Dashboards of charts, and the texts about their widgets. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create table dashboards (
  workspace_id uuid not null,
  id uuid not null,
  -- Null for the dashboard of the whole workspace.
  link_id uuid,
  name text not null,
  -- A DashboardConfig in protobuf's JSON. As text, so that lists count its bytes without reading it.
  config text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint dashboards_pkey primary key (workspace_id, id),
  constraint dashboards_link_key unique nulls not distinct (workspace_id, link_id)
);
create index dashboards_page_idx on dashboards (workspace_id, created_at, id);

-- The last text about each widget that has one. It goes when the widget asks another question.
create table widget_summaries (
  workspace_id uuid not null,
  dashboard_id uuid not null,
  widget_id text collate "C" not null,
  text text not null,
  -- How many rows the text is about.
  source_count integer not null,
  generated_at timestamptz(3) not null,
  constraint widget_summaries_pkey primary key (workspace_id, dashboard_id, widget_id)
);

-- When a workspace's visitors last lost values. Texts that are being written then may name them.
create table withdrawn_values (
  workspace_id uuid not null,
  withdrawn_at timestamptz not null,
  constraint withdrawn_values_pkey primary key (workspace_id)
);
`;
