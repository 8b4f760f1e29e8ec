import { type RawBuilder, type Selectable, sql } from "kysely";
import type { OutboxAttempts, OutboxMessages } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import { uuidFromTime } from "../../lib/ids.ts";
import type { Page } from "../../lib/paging/page.ts";

export type DeliveryStatus = Selectable<OutboxMessages>["status"];

export interface DeliveryRow
  extends Omit<Selectable<OutboxMessages>, "body" | "attempts" | "attempts_before"> {
  readonly attempt_count: number;
  /** The last ones, the first of them first. */
  readonly attempts: readonly AttemptRow[];
}

export type AttemptRow = Pick<
  Selectable<OutboxAttempts>,
  "number" | "duration_ms" | "is_delivered" | "status" | "response" | "reason"
> & { readonly at: string };

/** How many attempts of a message are shown: those of two schedules. */
const attemptsMax = 20;

const columns =
  sql.raw(`m.workspace_id, m.subscriber_id, m.id, m.event_id, m.step_id, m.status, m.next_attempt_at,
  m.created_at, m.attempts as attempt_count, (
    select coalesce(json_agg(a order by a.number), '[]') from (
      select number, at, duration_ms, status, is_delivered, reason, response from outbox_attempts
      where workspace_id = m.workspace_id and subscriber_id = m.subscriber_id and message_id = m.id
      order by number desc limit ${attemptsMax}) a) as attempts`);

interface Filter {
  readonly workspaceId: string;
  readonly id: string;
  readonly status: DeliveryStatus | undefined;
  /** Messages of steps before it are not shown. */
  readonly since: Date;
}

/** Messages of a webhook, those of the newest steps first, one more row than the page. */
export async function listDeliveries(
  db: Db,
  { workspaceId, id, status, since }: Filter,
  { size, after }: Page<"none">,
): Promise<DeliveryRow[]> {
  const ofStatus = status === undefined ? sql.raw("") : sql`and m.status = ${status}`;
  // Says that the index of waiting messages has them all, so that a few among many delivered ones are found by it.
  const waiting = sql.raw(status === "WAITING" ? "and m.next_attempt_at is not null" : "");
  const beyond = after === undefined ? sql.raw("") : sql`and m.id < ${after.id}::uuid`;
  const { rows } = await sql<DeliveryRow>`select ${columns} from outbox_messages m
    where ${ofWebhook(workspaceId, id)} and m.id > ${uuidFromTime(since)}::uuid ${ofStatus} ${waiting} ${beyond}
    order by m.id desc limit ${size + 1}`.execute(db);
  return rows;
}

export async function findDelivery(
  db: Db,
  { workspaceId, id }: { readonly workspaceId: string; readonly id: string },
  deliveryId: string,
): Promise<DeliveryRow | undefined> {
  const { rows } = await sql<DeliveryRow>`select ${columns} from outbox_messages m
    where ${ofWebhook(workspaceId, id)} and m.id = ${deliveryId}`.execute(db);
  return rows[0];
}

function ofWebhook(workspaceId: string, id: string): RawBuilder<unknown> {
  return sql`m.workspace_id = ${workspaceId} and m.subscriber_id = ${id}`;
}
