import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TestSlackIntegrationResponseSchema } from "../../../gen/signpost/v1/slack_integrations_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { testMessage } from "../../integrations/slack/messages.ts";
import { countAttempt } from "../../outbox/subscribers.ts";
import type { Context, Write } from "../../rpc/handlers.ts";
import { findConnection, noteProblem } from "./connection.ts";
import type { SlackDeps } from "./deps.ts";
import { channelRequired } from "./rules.ts";
import { keepLastError } from "./writes.ts";

/** Sends a test message at once, whether or not the integration is paused. It is counted like any other. */
export async function sendTest(
  deps: Pick<SlackDeps, "now" | "slack" | "tokenBox">,
  context: Context,
): Promise<Write<MessageInitShape<typeof TestSlackIntegrationResponseSchema>>> {
  const { row, botToken } = await findConnection(deps, context);
  if (row.channel_id === "") throw channelRequired();
  const sent = await deps.slack.post(botToken, row.channel_id, testMessage());
  return (db) =>
    inTransaction(db, async (tx) => {
      const key = { workspaceId: row.workspace_id, subscriberId: row.id };
      const at = deps.now();
      if (sent.ok) await keepLastError(tx, key, "");
      else await noteProblem(tx, row, sent.problem, at);
      await countAttempt(tx, key, { isDelivered: sent.ok, at });
      return { success: sent.ok };
    });
}
