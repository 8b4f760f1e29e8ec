import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type WebhookSchema, WebhookSource, WebhookStatus } from "../../../gen/signpost/v1/webhook_pb.js";
import { WorkflowStep_Kind } from "../../../gen/signpost/v1/workflow_step_pb.js";
import type { WebhookRow } from "./queries.ts";

export function toWebhook(row: WebhookRow): MessageInitShape<typeof WebhookSchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    endpointUrl: row.endpoint_url,
    status: WebhookStatus[row.status],
    source: WebhookSource[row.source],
    linkId: row.link_id ?? "",
    triggers: row.triggers.flatMap((name) => kindOf(name) ?? []),
    successCount: row.success_count,
    failureCount: row.failure_count,
    ...(row.last_sent_at && { lastSentAt: timestampFromDate(row.last_sent_at) }),
    ...(row.last_delivered_at && { lastDeliveredAt: timestampFromDate(row.last_delivered_at) }),
    createdBy: row.created_by ?? "",
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
    lastError: row.last_error,
  };
}

/** The bare names of kinds, as the outbox compares them, each once. */
export function triggersOf(kinds: readonly WorkflowStep_Kind[]): string[] {
  return [...new Set(kinds)].flatMap((kind) => WorkflowStep_Kind[kind]?.replace(/^KIND_/, "") ?? []);
}

function kindOf(name: string): WorkflowStep_Kind | undefined {
  const kind = WorkflowStep_Kind[name as keyof typeof WorkflowStep_Kind];
  return typeof kind === "number" ? kind : undefined;
}

/** The bare name of a source. Undefined for none. */
export function sourceOf(source: WebhookSource): WebhookRow["source"] | undefined {
  const names = {
    [WebhookSource.API]: "API",
    [WebhookSource.MAKE]: "MAKE",
    [WebhookSource.ZAPIER]: "ZAPIER",
  } as const;
  return source === WebhookSource.UNSPECIFIED ? undefined : names[source];
}
