import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { WebhookDeliverySchema, WebhookDeliveryStatus } from "../../../gen/signpost/v1/webhook_pb.js";
import type {
  ListWebhookDeliveriesRequest,
  ListWebhookDeliveriesResponseSchema,
} from "../../../gen/signpost/v1/webhooks_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { type CallError, fail } from "../../lib/errors.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { queueTest, resend } from "../../outbox/queue-again.ts";
import { attemptsMax } from "../../outbox/schedule.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { type DeliveryRow, type DeliveryStatus, findDelivery, listDeliveries } from "./deliveries-queries.ts";
import { toDelivery } from "./delivery-message.ts";
import { findWebhook, lockWebhook } from "./queries.ts";

/** How long messages can be read. */
export const deliveriesKeptMs = 30 * 24 * 3_600_000;

type Place = { readonly workspaceId: string; readonly id: string };

/** Lists the messages of a webhook with their attempts. */
export async function listWebhookDeliveries(
  { now }: Pick<Deps, "now">,
  request: ListWebhookDeliveriesRequest,
  context: Context,
): Promise<MessageInitShape<typeof ListWebhookDeliveriesResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const { id } = request;
  const filters = { workspaceId, id, status: statusName(request.status) };
  const rules = { key: "none", sort: "deliveries newest first", filters, default: 50, max: 100 } as const;
  const page = readPage(request, rules);
  if ((await findWebhook(context.db, workspaceId, id)) === undefined) throw notFound("webhook", "id", id);
  const since = new Date(now().getTime() - deliveriesKeptMs);
  const { records, nextPageToken } = await fillPage(page, {
    rows: await listDeliveries(context.db, { ...filters, since }, page),
    edgeOf: (row) => ({ key: undefined, id: row.id }),
    recordOf: (row) => create(WebhookDeliverySchema, toDelivery(row)),
    write: (delivery) => context.writeRecord(WebhookDeliverySchema, delivery),
  });
  return { deliveries: records, nextPageToken };
}

/** The bare name of a status to filter by. The rules let no unknown one through. */
function statusName(status: WebhookDeliveryStatus): DeliveryStatus | undefined {
  return status === WebhookDeliveryStatus.UNSPECIFIED
    ? undefined
    : (WebhookDeliveryStatus[status] as DeliveryStatus);
}

/** Queues a message once more. */
export function resendDelivery(db: Db, place: Place, deliveryId: string, at: Date): Promise<DeliveryRow> {
  return inTransaction(db, async (tx) => {
    await checkActive(tx, place);
    const isQueued = await resend(tx, keyOf(place), deliveryId, at);
    const row = await findDelivery(tx, place, deliveryId);
    if (row === undefined) throw notFound("message", "deliveryId", deliveryId, "of this webhook");
    if (!isQueued) throw attemptsUsedUp(deliveryId);
    return row;
  });
}

function attemptsUsedUp(deliveryId: string): CallError {
  return fail(
    "FAILED_PRECONDITION",
    "FAILED_PRECONDITION",
    `deliveryId: message ${deliveryId} was attempted ${attemptsMax} times and is not sent again: read its step by the API`,
  );
}

/** Queues a test message. */
export function sendTest(db: Db, place: Place, at: Date): Promise<DeliveryRow> {
  return inTransaction(db, async (tx) => {
    await checkActive(tx, place);
    const id = await queueTest(tx, keyOf(place), at);
    const row = await findDelivery(tx, place, id);
    if (row === undefined) throw new Error("a test message was not queued");
    return row;
  });
}

/** Throws unless the webhook sends messages, and keeps it so until the transaction ends. */
export async function checkActive(tx: Db, { workspaceId, id }: Place): Promise<void> {
  const webhook = await lockWebhook(tx, workspaceId, id);
  if (webhook === undefined) throw notFound("webhook", "id", id);
  if (webhook.status === "ACTIVE") return;
  const what = `webhook ${id} is ${webhook.status.toLowerCase()} and sends nothing`;
  throw fail(
    "FAILED_PRECONDITION",
    "FAILED_PRECONDITION",
    `${what}: set its status to WEBHOOK_STATUS_ACTIVE first`,
  );
}

export function keyOf({ workspaceId, id }: Place): { workspaceId: string; subscriberId: string } {
  return { workspaceId, subscriberId: id };
}
