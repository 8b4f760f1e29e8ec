import type { Selectable } from "kysely";
import { sql } from "kysely";
import type { OutboxSubscribers } from "../../gen/database.ts";
import { plainArray } from "../db/array-literal.ts";
import type { Db } from "../db/open.ts";
import type { SubscriberKey } from "./sender.ts";

/*
 * The lines of subscribers that have something waiting. One process at a time owns a line and sends its messages, so that
 * no message needs a mark of its own while it is sent. It owns the line for a short time that it extends again and again;
 * after a crash another process takes the line when that time is over.
 */

/** How long a process owns a line, in milliseconds, and how often it extends that. */
export const ownedMs = 30_000;
export const extendEveryMs = 10_000;

export interface Owner {
  readonly owner: string;
  readonly now: Date;
}

/** How many lines of one workspace a call takes. */
const takenOfWorkspaceMax = 32;

/** Which lines may be taken. */
export interface Taking {
  readonly most: number;
  /** How many of them may be of subscribers that only failed since their last success. */
  readonly failingMost: number;
  readonly exceptWorkspaces: readonly string[];
  /** The workspaces whose failing subscribers' lines are left. */
  readonly exceptFailingOf: readonly string[];
}

/**
 * Takes lines that are due and that no living process owns, those that have waited longest first. Lines of paused
 * subscribers and of deleted workspaces stay.
 */
export async function takeLines(
  db: Db,
  { owner, now }: Owner,
  { most, failingMost, exceptWorkspaces, exceptFailingOf }: Taking,
): Promise<readonly SubscriberKey[]> {
  const { rows } = await sql<SubscriberKey>`
    with due as (
      select l.workspace_id, l.subscriber_id, l.due_at, s.failing_since is not null as is_failing, row_number() over (
        partition by l.workspace_id, s.failing_since is not null order by l.due_at, l.subscriber_id) as number
      from outbox_lines l
      join workspaces w on w.id = l.workspace_id and w.deleted_at is null
      join outbox_subscribers s on s.workspace_id = l.workspace_id and s.id = l.subscriber_id and s.status <> 'PAUSED'
      where l.due_at <= ${now} and (l.owned_until is null or l.owned_until <= ${now})
        and l.workspace_id <> all(${plainArray(exceptWorkspaces)}::uuid[])
        and (s.failing_since is null or l.workspace_id <> all(${plainArray(exceptFailingOf)}::uuid[]))),
    fair as (
      select *, row_number() over (partition by is_failing order by due_at, subscriber_id) as place from due
      where number <= ${takenOfWorkspaceMax}),
    free as (
      select l.workspace_id, l.subscriber_id from outbox_lines l
      join fair d on d.workspace_id = l.workspace_id and d.subscriber_id = l.subscriber_id
      where (not d.is_failing or d.place <= ${failingMost}) and (l.owned_until is null or l.owned_until <= ${now})
      order by d.due_at limit ${most} for no key update of l skip locked)
    update outbox_lines l set owner = ${owner}, owned_until = ${untilOf(now)} from free f
    where l.workspace_id = f.workspace_id and l.subscriber_id = f.subscriber_id
    returning l.workspace_id as "workspaceId", l.subscriber_id as "subscriberId"`.execute(db);
  return rows;
}

/** A line that this process owns, and its subscriber. */
export interface OwnedLine
  extends SubscriberKey,
    Pick<Selectable<OutboxSubscribers>, "kind" | "status" | "enabled_at" | "failing_since"> {
  readonly revision: bigint;
}

/** Looks at lines. Those that this process owns no more, and those whose workspace is deleted, are missing. */
export async function lookAtLines(
  db: Db,
  { owner }: Owner,
  lines: readonly SubscriberKey[],
): Promise<readonly OwnedLine[]> {
  const { rows } = await sql<OwnedLine>`
    select l.workspace_id as "workspaceId", l.subscriber_id as "subscriberId", l.revision, s.kind, s.status,
      s.enabled_at, s.failing_since
    from ${given(lines)}
    join outbox_lines l on l.workspace_id = given.workspace_id and l.subscriber_id = given.subscriber_id
      and l.owner = ${owner}
    join workspaces w on w.id = l.workspace_id and w.deleted_at is null
    join outbox_subscribers s on s.workspace_id = l.workspace_id and s.id = l.subscriber_id`.execute(db);
  return rows;
}

/** Owns all lines of this process for longer. */
export async function extendLines(
  db: Db,
  { owner, now }: Owner,
  lines: readonly SubscriberKey[],
): Promise<void> {
  await sql`update outbox_lines l set owned_until = ${untilOf(now)} from (
      select l.workspace_id, l.subscriber_id from ${given(lines)}
      join outbox_lines l on l.workspace_id = given.workspace_id and l.subscriber_id = given.subscriber_id
      where l.owner = ${owner} order by 1, 2 for no key update of l) mine
    where l.workspace_id = mine.workspace_id and l.subscriber_id = mine.subscriber_id`.execute(db);
}

/**
 * Gives lines back: until their next message is due, or for good when none waits. One with messages that are due already
 * comes after those that are due now. A line that has changed since it was looked at stays with its owner, because something new may be waiting. Returns those that are given back.
 */
export async function giveBackLines(
  db: Db,
  { owner, now }: Owner,
  lines: readonly (SubscriberKey & { readonly revision: bigint })[],
): Promise<readonly SubscriberKey[]> {
  if (lines.length === 0) return [];
  const { rows } = await sql<SubscriberKey>`
    with mine as (
      select l.workspace_id, l.subscriber_id from unnest(${workspacesOf(lines)}::uuid[],
          ${subscribersOf(lines)}::uuid[], ${plainArray(lines.map(({ revision }) => String(revision)))}::bigint[])
        as given (workspace_id, subscriber_id, revision)
      join outbox_lines l on l.workspace_id = given.workspace_id and l.subscriber_id = given.subscriber_id
      where l.owner = ${owner} and l.revision = given.revision order by 1, 2 for no key update of l),
    next as (select mine.*, (select min(m.next_attempt_at) from outbox_messages m
      where m.workspace_id = mine.workspace_id and m.subscriber_id = mine.subscriber_id
        and m.next_attempt_at is not null) as due_at from mine),
    over as (delete from outbox_lines l using next n
      where l.workspace_id = n.workspace_id and l.subscriber_id = n.subscriber_id and n.due_at is null
      returning l.workspace_id, l.subscriber_id),
    back as (update outbox_lines l set due_at = greatest(n.due_at, ${now}::timestamptz), owner = null, owned_until = null from next n
    where l.workspace_id = n.workspace_id and l.subscriber_id = n.subscriber_id and n.due_at is not null
      returning l.workspace_id, l.subscriber_id)
    select workspace_id as "workspaceId", subscriber_id as "subscriberId" from over
    union all select workspace_id, subscriber_id from back`.execute(db);
  return rows;
}

/** Gives all lines of this process to whoever comes next, at once. */
export async function leaveLines(db: Db, { owner }: Pick<Owner, "owner">): Promise<void> {
  await sql`update outbox_lines l set owner = null, owned_until = null from (
      select workspace_id, subscriber_id from outbox_lines where owner = ${owner} order by 1, 2 for no key update) mine
    where l.workspace_id = mine.workspace_id and l.subscriber_id = mine.subscriber_id`.execute(db);
}

function untilOf(now: Date): Date {
  return new Date(now.getTime() + ownedMs);
}

function given(lines: readonly SubscriberKey[]) {
  return sql`unnest(${workspacesOf(lines)}::uuid[], ${subscribersOf(lines)}::uuid[])
    as given (workspace_id, subscriber_id)`;
}

function workspacesOf(lines: readonly SubscriberKey[]): string {
  return plainArray(lines.map(({ workspaceId }) => workspaceId));
}

function subscribersOf(lines: readonly SubscriberKey[]): string {
  return plainArray(lines.map(({ subscriberId }) => subscriberId));
}
