import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type WebhookAttemptSchema,
  type WebhookDeliverySchema,
  WebhookDeliveryStatus,
} from "../../../gen/signpost/v1/webhook_pb.js";
import type { AttemptRow, DeliveryRow } from "./deliveries-queries.ts";
import { webhookIdOf } from "./sender.ts";

export function toDelivery(row: DeliveryRow): MessageInitShape<typeof WebhookDeliverySchema> {
  return {
    id: row.id,
    webhookId: row.subscriber_id,
    webhookMessageId: webhookIdOf({ id: row.id, subscriberId: row.subscriber_id }),
    type: row.event_id === null ? "webhook.test" : "workflow_step.completed",
    status: WebhookDeliveryStatus[row.status],
    eventId: row.event_id ?? "",
    stepId: row.step_id ?? "",
    attemptCount: row.attempt_count,
    attempts: row.attempts.map(toAttempt),
    ...(row.next_attempt_at && { nextAttemptAt: timestampFromDate(row.next_attempt_at) }),
    createdAt: timestampFromDate(row.created_at),
  };
}

function toAttempt(row: AttemptRow): MessageInitShape<typeof WebhookAttemptSchema> {
  return {
    number: row.number,
    attemptedAt: timestampFromDate(new Date(row.at)),
    durationMs: row.duration_ms,
    delivered: row.is_delivered,
    ...(row.status !== null && { httpStatus: row.status }),
    response: row.response,
    error: row.reason,
  };
}
