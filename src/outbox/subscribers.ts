import { type Selectable, sql } from "kysely";
import type { OutboxSubscribers } from "../../gen/database.ts";
import { tellOutbox } from "../db/channels.ts";
import type { Db } from "../db/open.ts";
import type { SubscriberKey } from "./sender.ts";

export interface NewSubscriber extends SubscriberKey {
  readonly kind: Selectable<OutboxSubscribers>["kind"];
  readonly status: Selectable<OutboxSubscribers>["status"];
  /** Null for all links. */
  readonly linkId: string | null;
  /** Bare kinds of steps, such as EXIT; empty for all. */
  readonly triggers: readonly string[];
  readonly at: Date;
}

/** Adds a subscriber, in the transaction that adds its webhook or integration. */
export async function addSubscriber(tx: Db, subscriber: NewSubscriber): Promise<void> {
  const { workspaceId, subscriberId, kind, status, linkId, triggers, at } = subscriber;
  await sql`insert into outbox_subscribers (workspace_id, id, kind, status, link_id, triggers, enabled_at)
    values (${workspaceId}, ${subscriberId}, ${kind}, ${status}, ${linkId}, ${triggers}, ${at})`.execute(tx);
}

/** What changes; an undefined field stays as it is. */
export type SubscriberChange = Partial<Pick<NewSubscriber, "status" | "linkId" | "triggers">>;

/**
 * Changes a subscriber. One that was disabled and becomes active begins anew: its counts of failures are reset, and what
 * waited is missed. One that was paused sends what waited.
 */
export async function changeSubscriber(
  tx: Db,
  { workspaceId, subscriberId }: SubscriberKey,
  { status, linkId, triggers }: SubscriberChange,
  at: Date,
): Promise<void> {
  const beginsAnew = sql`(${status === "ACTIVE"}::boolean and status = 'DISABLED')`;
  await sql`update outbox_subscribers set status = coalesce(${status ?? null}::subscriber_status, status),
      link_id = case when ${linkId !== undefined}::boolean then ${linkId ?? null}::uuid else link_id end,
      triggers = coalesce(${triggers ?? null}::text[], triggers),
      enabled_at = case when ${beginsAnew} then ${at}::timestamptz else enabled_at end,
      failing_since = case when not ${beginsAnew} then failing_since end,
      exhausted_in_row = case when ${beginsAnew} then 0 else exhausted_in_row end
    where workspace_id = ${workspaceId} and id = ${subscriberId}`.execute(tx);
  if (status === "ACTIVE") await sql`select ${tellOutbox()}`.execute(tx);
}

/**
 * Removes a subscriber: nothing of it is sent from now on. Its messages, which may be many, are deleted by
 * `deleteOldMessages`.
 */
export async function removeSubscriber(tx: Db, { workspaceId, subscriberId }: SubscriberKey): Promise<void> {
  await sql`delete from outbox_subscribers where workspace_id = ${workspaceId} and id = ${subscriberId}`.execute(
    tx,
  );
  await sql`delete from outbox_lines where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId}`.execute(
    tx,
  );
}

/** Counts an attempt that the outbox did not make: a test message whose sender waits for the answer. */
export async function countAttempt(
  db: Db,
  { workspaceId, subscriberId }: SubscriberKey,
  { lastError, at }: { readonly lastError: string; readonly at: Date },
): Promise<void> {
  const isDelivered = lastError === "";
  await sql`update outbox_subscribers set last_sent_at = ${at}, last_error = ${lastError},
    success_count = success_count + ${isDelivered ? 1 : 0}, failure_count = failure_count + ${isDelivered ? 0 : 1},
    last_delivered_at = case when ${isDelivered}::boolean then ${at}::timestamptz else last_delivered_at end
    where workspace_id = ${workspaceId} and id = ${subscriberId}`.execute(db);
}

/** Disables a subscriber whose receiver wants no messages ever again, as the outbox does after a final answer. */
export async function disableSubscriber(
  db: Db,
  { workspaceId, subscriberId }: SubscriberKey,
  lastError: string,
): Promise<void> {
  await sql`update outbox_subscribers set status = 'DISABLED', last_error = ${lastError}
    where workspace_id = ${workspaceId} and id = ${subscriberId}`.execute(db);
}

/**
 * Erases what waiting messages would tell of visits, and what receivers answered to messages about them, which may be an
 * echo, in the transaction that erases it elsewhere.
 */
export async function eraseBodies(tx: Db, workspaceId: string, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length === 0) return;
  await sql`update outbox_messages m set body = null from (
      select workspace_id, subscriber_id, id from outbox_messages where workspace_id = ${workspaceId}
        and body is not null and event_id = any(${eventIds}::uuid[]) order by 1, 2, 3 for no key update) told
    where m.workspace_id = told.workspace_id and m.subscriber_id = told.subscriber_id and m.id = told.id`.execute(
    tx,
  );
  // The messages of a step have the id of its trace.
  await sql`update outbox_attempts a set response = '' from (
      select t.workspace_id, s.id as subscriber_id, t.id as message_id from visit_traces t
      join outbox_subscribers s on s.workspace_id = t.workspace_id
      where t.workspace_id = ${workspaceId} and t.event_id = any(${eventIds}::uuid[])) told
    where a.workspace_id = told.workspace_id and a.subscriber_id = told.subscriber_id
      and a.message_id = told.message_id and a.response <> ''`.execute(tx);
}
