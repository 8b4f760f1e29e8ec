import { type Kysely, sql } from "kysely";

/**
 * Most visits are an entry and a redirect, and their events tell all that the two traces would say. Such traces have no
 * rows; the view `visit_traces` makes them from the event. Two rows of traces took three quarters of a plain visit's
 * bytes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
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
