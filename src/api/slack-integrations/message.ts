import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type SlackChannelSchema,
  type SlackIntegrationSchema,
  SlackIntegrationStatus,
} from "../../../gen/signpost/v1/slack_integration_pb.js";
import { WorkflowStep_Kind } from "../../../gen/signpost/v1/workflow_step_pb.js";
import type { Channel } from "../../integrations/slack/slack.ts";
import type { IntegrationRow } from "./queries.ts";

export function toSlackIntegration(row: IntegrationRow): MessageInitShape<typeof SlackIntegrationSchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    status: statusOf(row),
    slackTeamId: row.team_id,
    slackTeamName: row.team_name,
    slackChannelId: row.channel_id,
    slackChannelName: row.channel_name,
    linkId: row.link_id ?? "",
    triggers: row.triggers.map(kindOf),
    successCount: row.success_count,
    failureCount: row.failure_count,
    ...(row.last_sent_at && { lastSentAt: timestampFromDate(row.last_sent_at) }),
    createdBy: row.created_by ?? "",
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
    lastError: row.last_error,
  };
}

function statusOf({ status, is_paused }: IntegrationRow): SlackIntegrationStatus {
  if (status === "DISABLED") return SlackIntegrationStatus.DISCONNECTED;
  return is_paused ? SlackIntegrationStatus.PAUSED : SlackIntegrationStatus.ACTIVE;
}

/** The kind of steps that a row names. */
function kindOf(name: string): WorkflowStep_Kind {
  return WorkflowStep_Kind[name as keyof typeof WorkflowStep_Kind];
}

export function toSlackChannel(channel: Channel): MessageInitShape<typeof SlackChannelSchema> {
  const { id, name, isMember, isPrivate } = channel;
  return { id, name, isMember, isPrivate };
}
