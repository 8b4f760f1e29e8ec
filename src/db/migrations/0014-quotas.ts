import { type Kysely, sql } from "kysely";

/** What workspaces use of the limits of their plans, and visits that are locked because they are beyond one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
-- Uses of monthly limits other than credits. A cycle is a month of the workspace's calendar, such as 2026-11.
create table allowance_cycles (
  workspace_id uuid not null,
  -- PUBLIC_API_CALLS, TRACKED_VISITS or LEAD_SCORES.
  limit_key text not null,
  cycle text collate "C" not null,
  -- For visits, all that are counted, with those that are locked.
  used bigint not null,
  -- How many visits of the cycle are locked now.
  locked bigint not null default 0,
  constraint allowance_cycles_pkey primary key (workspace_id, limit_key, cycle)
) with (fillfactor = 60);
create index allowance_cycles_locked_idx on allowance_cycles (workspace_id) where locked > 0;

-- The credits of a workspace: what it has used of the plan's in its last cycle, and the bought ones.
create table credit_accounts (
  workspace_id uuid not null,
  cycle text collate "C" not null,
  used bigint not null,
  -- The plan's credits that the last charge took.
  last_charge bigint not null,
  topup_bought bigint not null default 0,
  topup_used bigint not null default 0,
  constraint credit_accounts_pkey primary key (workspace_id),
  -- Refuses a charge that neither the plan's credits nor the bought ones pay for.
  constraint credit_accounts_covered_check check (topup_used <= topup_bought)
) with (fillfactor = 60);

-- What a workspace without limits has made in a month is counted, and deleting a link gives nothing back.
create index links_deleted_idx on links (workspace_id, created_at) where deleted_at is not null;

create table dismissed_notices (
  workspace_id uuid not null,
  member_id uuid not null,
  limit_key text not null,
  -- The cycle in which the notice stays hidden; empty for a total.
  cycle text not null,
  dismissed_at timestamptz(3) not null,
  constraint dismissed_notices_pkey primary key (workspace_id, member_id, limit_key)
);

-- A locked visit's number among the counted visits of its cycle. Null for visits that are not locked.
alter table events add column locked_number integer, add column locked_cycle text collate "C";
create index events_locked_idx on events (workspace_id, locked_cycle, locked_number) where locked_number is not null;
`;
