import { type RawBuilder, type Selectable, sql } from "kysely";
import type { OutboxSubscribers, Webhooks } from "../../../gen/database.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import type { Page } from "../../lib/paging/page.ts";

export type WebhookStatus = Selectable<OutboxSubscribers>["status"];

/** A webhook, with how its messages fare. Its secrets stay sealed. */
export type WebhookRow = Selectable<Webhooks> &
  Pick<
    Selectable<OutboxSubscribers>,
    | "status"
    | "link_id"
    | "triggers"
    | "success_count"
    | "failure_count"
    | "last_sent_at"
    | "last_delivered_at"
    | "last_error"
  >;

const columns =
  sql.raw(`w.*, s.status, s.link_id, s.triggers, s.success_count, s.failure_count, s.last_sent_at,
  s.last_delivered_at, s.last_error`);

const tables = sql.raw(
  "webhooks w join outbox_subscribers s on s.workspace_id = w.workspace_id and s.id = w.id",
);

export async function findWebhook(db: Db, workspaceId: string, id: string): Promise<WebhookRow | undefined> {
  const { rows } = await sql<WebhookRow>`select ${columns} from ${tables}
    where w.workspace_id = ${workspaceId} and w.id = ${id}`.execute(db);
  return rows[0];
}

/** The webhook, kept from changes by others until the transaction ends. */
export async function lockWebhook(tx: Db, workspaceId: string, id: string): Promise<WebhookRow | undefined> {
  const { rows } = await sql<WebhookRow>`select ${columns} from ${tables}
    where w.workspace_id = ${workspaceId} and w.id = ${id} for no key update of w`.execute(tx);
  return rows[0];
}

export interface WebhookFilter {
  readonly workspaceId: string;
  readonly status: WebhookStatus | undefined;
}

/** Webhooks newest first, one more row than the page. Served by webhooks_page_idx. */
export async function listWebhooks(
  db: Db,
  filter: WebhookFilter,
  { size, after }: Page<"time">,
): Promise<WebhookRow[]> {
  const beyond =
    after === undefined
      ? sql.raw("")
      : sql`and (w.created_at, w.id) < (${after.key}::timestamptz, ${after.id}::uuid)`;
  const { rows } = await sql<WebhookRow>`select ${columns} from ${tables}
    where ${matching(filter)} ${beyond}
    order by w.created_at desc, w.id desc limit ${size + 1}`.execute(db);
  return rows;
}

export async function countWebhooks(db: Db, filter: WebhookFilter): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from ${tables}
    where ${matching(filter)}`.execute(db);
  return onlyRow(rows).count;
}

function matching({ workspaceId, status }: WebhookFilter): RawBuilder<unknown> {
  const ofStatus = status === undefined ? sql.raw("") : sql`and s.status = ${status}`;
  return sql`w.workspace_id = ${workspaceId} ${ofStatus}`;
}

/** Whether the workspace has the link. */
export async function hasLink(db: Db, workspaceId: string, linkId: string): Promise<boolean> {
  const { rows } =
    await sql`select from living_links where workspace_id = ${workspaceId} and id = ${linkId}`.execute(db);
  return rows.length > 0;
}
