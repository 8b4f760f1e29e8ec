import { type RawBuilder, type Selectable, sql } from "kysely";
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
  const changes: RawBuilder<unknown>[] = [];
  if (linkId !== undefined) changes.push(sql`link_id = ${linkId}`);
  if (triggers !== undefined) changes.push(sql`triggers = ${triggers}`);
  if (status !== undefined) changes.push(sql`status = ${status}`);
  if (status === "ACTIVE") {
    const isAgain = sql`status = 'DISABLED'`;
    changes.push(
      sql`enabled_at = case when ${isAgain} then ${at}::timestamptz else enabled_at end`,
      sql`failing_since = case when not ${isAgain} then failing_since end`,
      sql`exhausted_in_row = case when ${isAgain} then 0 else exhausted_in_row end`,
    );
  }
  if (changes.length === 0) return;
  await sql`update outbox_subscribers set ${sql.join(changes)}
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
