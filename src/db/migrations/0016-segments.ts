import { type Kysely, sql } from "kysely";

/**
 * Segments: counted visits by column, sealed for the analytics. They are made of events and can be made again at any
 * time. They know visitors and devices by numbers, which take a quarter of an id's bytes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
-- A connection takes numbers from the sequence a hundred at a time, so that a new row writes nothing more.
alter table devices add column number bigint generated always as identity (cache 100);
alter table visitors add column number bigint generated always as identity (cache 100);

-- Visits before this time may be in segments: who writes or changes one leaves a mark. Null before the first segment.
alter table workspaces add column sealed_through timestamptz(3);

-- The segments of a workspace follow each other without a gap, and the first one begins in 1970. Each has all counted
-- visits of its span as they were at one moment. A row never changes; a segment that is sealed again is another row.
create table segments (
  workspace_id uuid not null,
  version bigint generated always as identity,
  begins_at timestamptz(3) not null,
  -- Exclusive.
  ends_at timestamptz(3) not null,
  sealed_at timestamptz(3) not null,
  visits integer not null,
  times bytea not null,
  links bytea not null,
  visitors bytea not null,
  devices bytea not null,
  visit_type bytea not null,
  device_type bytea not null,
  country bytea not null,
  city bytea not null,
  browser bytea not null,
  platform bytea not null,
  completed bytea not null,
  scores bytea not null,
  ways bytea not null,
  constraint segments_pkey primary key (workspace_id, begins_at)
);
-- Columns are compressed already, and a question reads few of them.
alter table segments alter column times set storage external, alter column links set storage external,
  alter column visitors set storage external, alter column devices set storage external,
  alter column visit_type set storage external, alter column device_type set storage external,
  alter column country set storage external, alter column city set storage external,
  alter column browser set storage external, alter column platform set storage external,
  alter column completed set storage external, alter column scores set storage external,
  alter column ways set storage external, set (toast_tuple_target = 512);

-- Visits of this moment have changed since their segment was sealed. Several marks may say the same, so that no writer
-- waits for another.
create table segment_marks (
  workspace_id uuid not null,
  id bigint generated always as identity (cache 100),
  visited_at timestamptz(3) not null,
  marked_at timestamptz(3) not null,
  constraint segment_marks_pkey primary key (workspace_id, id)
);

-- Visitors who became others or were erased. Segments keep their old numbers.
create table moved_visitors (
  workspace_id uuid not null,
  number bigint not null,
  -- A number that has not moved itself; 0 for an erased visitor, whose visits stand for their devices.
  to_number bigint not null,
  -- Who has read all moves that were visible at some moment reads later ones from the oldest transaction of then on.
  moved_in xid8 not null default pg_current_xact_id(),
  constraint moved_visitors_pkey primary key (workspace_id, number)
);
create index moved_visitors_to_idx on moved_visitors (workspace_id, to_number);
create index moved_visitors_moved_in_idx on moved_visitors (workspace_id, moved_in);
`;
