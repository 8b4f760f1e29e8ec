import { type Selectable, sql } from "kysely";
import type { OutboxSubscribers, SlackIntegrations } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import type { SubscriberKey } from "../../outbox/sender.ts";

/** An integration with its filters and counters. */
export type IntegrationRow = Selectable<SlackIntegrations> &
  Pick<
    Selectable<OutboxSubscribers>,
    "status" | "link_id" | "triggers" | "success_count" | "failure_count" | "last_sent_at"
  >;

/** The integration of the workspace. With `lock` it stays as it is until the transaction ends. */
export async function findIntegration(
  db: Db,
  workspaceId: string,
  { lock = false } = {},
): Promise<IntegrationRow | undefined> {
  const { rows } = await sql<IntegrationRow>`
    select i.*, s.status, s.link_id, s.triggers, s.success_count, s.failure_count, s.last_sent_at
    from slack_integrations i join outbox_subscribers s on s.workspace_id = i.workspace_id and s.id = i.id
    where i.workspace_id = ${workspaceId} ${lock ? sql`for no key update of i` : sql``}`.execute(db);
  return rows[0];
}

export async function hasLink(db: Db, workspaceId: string, linkId: string): Promise<boolean> {
  const { rows } = await sql`select from links
    where workspace_id = ${workspaceId} and id = ${linkId} and deleted_at is null`.execute(db);
  return rows.length > 0;
}

/** What is needed to send to an integration. */
export type SendingRow = Pick<
  Selectable<SlackIntegrations>,
  "workspace_id" | "id" | "bot_token" | "channel_id" | "channel_name" | "last_error"
>;

/** Those of the integrations that have a channel. */
export async function findSending(db: Db, keys: readonly SubscriberKey[]): Promise<readonly SendingRow[]> {
  const workspaceIds = keys.map(({ workspaceId }) => workspaceId);
  const ids = keys.map(({ subscriberId }) => subscriberId);
  const { rows } = await sql<SendingRow>`
    select i.workspace_id, i.id, i.bot_token, i.channel_id, i.channel_name, i.last_error
    from unnest(${workspaceIds}::uuid[], ${ids}::uuid[]) as asked (workspace_id, id)
    join slack_integrations i on i.workspace_id = asked.workspace_id and i.id = asked.id
    where i.channel_id <> ''`.execute(db);
  return rows;
}
