import { type Kysely, sql } from "kysely";

/** Workspaces that agents have registered, and how people claim them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
-- An agent made the workspace, and nobody has claimed it yet. Until then it is allowed what a sandbox is.
alter table workspaces add column awaits_claim boolean not null default false;

-- Nothing in it is secret: tokens and codes are made from the ids with a key of the master secret.
create table agent_registrations (
  workspace_id uuid not null,
  id uuid not null,
  -- The only address that can claim the workspace.
  email text not null,
  client_name text not null default '',
  -- What the agent may do once the workspace is claimed.
  scope text not null,
  -- The agent's grant.
  grant_id uuid not null,
  -- The newest claim link. Those before it have expired. The time of an attempt stands in its id.
  attempt_id uuid not null,
  attempts smallint not null default 1,
  -- How many wrong codes were entered for the newest link. The fifth voids it.
  wrong_codes smallint not null default 0,
  -- When the registration ends, unless the workspace is claimed.
  expires_at timestamptz(3) not null,
  -- When the agent last asked for its wider token, and how many seconds it has to wait.
  polled_at timestamptz(3),
  poll_seconds smallint not null default 5,
  claimed_at timestamptz(3),
  claimed_by uuid,
  -- When the agent's access ended, because nobody claimed the workspace in time.
  ended_at timestamptz(3),
  created_at timestamptz(3) not null,
  -- A registration makes a workspace.
  constraint agent_registrations_pkey primary key (workspace_id)
);

-- Finds the workspaces that nobody has claimed.
create index agent_registrations_unclaimed_idx on agent_registrations (workspace_id) include (created_at, expires_at)
  where claimed_at is null;
`;
