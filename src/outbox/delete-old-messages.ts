import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { uuidFromTime } from "../lib/ids.ts";
import { messagesKeptMs } from "./schedule.ts";
import type { SubscriberKey } from "./sender.ts";

/** How many messages one statement deletes, with their attempts. */
const deletedMax = 1_000;

/**
 * Deletes messages about steps of more than 30 days ago, and all messages of subscribers that are no more, with their
 * attempts.
 */
export async function deleteOldMessages(db: Db, now: Date, signal?: AbortSignal): Promise<void> {
  // Ids begin with the time of the step.
  const before = uuidFromTime(new Date(now.getTime() - messagesKeptMs));
  for (const { workspaceId, subscriberId, isGone } of await subscribersToTidy(db, before)) {
    const some = isGone ? sql`true` : sql`id < ${before}::uuid`;
    for (let deleted = deletedMax; deleted === deletedMax && signal?.aborted !== true; ) {
      const { rows } = await sql<{ deleted: number }>`
        with gone as (
          delete from outbox_messages where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId}
            and id in (select id from outbox_messages where workspace_id = ${workspaceId}
              and subscriber_id = ${subscriberId} and ${some} order by id limit ${deletedMax})
          returning id),
        attempts as (delete from outbox_attempts where workspace_id = ${workspaceId}
          and subscriber_id = ${subscriberId} and message_id in (select id from gone))
        select count(*)::int as deleted from gone`.execute(db);
      deleted = rows[0]?.deleted ?? 0;
    }
  }
}

/** The subscribers with something to delete. Of each, the index of messages is read at one place. */
async function subscribersToTidy(
  db: Db,
  before: string,
): Promise<readonly (SubscriberKey & { readonly isGone: boolean })[]> {
  const { rows } = await sql<SubscriberKey & { readonly isGone: boolean }>`
    with recursive first as (
      (select workspace_id, subscriber_id, id from outbox_messages order by 1, 2, 3 limit 1)
      union all
      select next.* from first f cross join lateral (
        select workspace_id, subscriber_id, id from outbox_messages m
        where (m.workspace_id, m.subscriber_id) > (f.workspace_id, f.subscriber_id) order by 1, 2, 3 limit 1) next)
    select f.workspace_id as "workspaceId", f.subscriber_id as "subscriberId", s.id is null as "isGone" from first f
    left join outbox_subscribers s on s.workspace_id = f.workspace_id and s.id = f.subscriber_id
    where s.id is null or f.id < ${before}`.execute(db);
  return rows;
}
