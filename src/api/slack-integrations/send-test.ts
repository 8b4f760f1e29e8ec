import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TestSlackIntegrationResponseSchema } from "../../../gen/signpost/v1/slack_integrations_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { testMessage } from "../../integrations/slack/messages.ts";
import { isDisconnecting, sentenceOf } from "../../integrations/slack/sentences.ts";
import { countAttempt, disableSubscriber } from "../../outbox/subscribers.ts";
import type { Context, Write } from "../../rpc/handlers.ts";
import { findConnection, keyOf } from "./connection.ts";
import type { SlackDeps } from "./deps.ts";
import { channelRequired } from "./rules.ts";

/** Sends a test message at once, whether or not the integration is paused. It is counted like any other. */
export async function sendTest(
  deps: Pick<SlackDeps, "now" | "slack" | "tokenBox">,
  context: Context,
): Promise<Write<MessageInitShape<typeof TestSlackIntegrationResponseSchema>>> {
  const { row, botToken } = await findConnection(deps, context);
  if (row.channel_id === "") throw channelRequired();
  const sent = await deps.slack.post(botToken, row.channel_id, testMessage());
  const lastError = sent.ok ? "" : sentenceOf(sent.problem);
  return (db) =>
    inTransaction(db, async (tx) => {
      await countAttempt(tx, keyOf(row), { lastError, at: deps.now() });
      if (!sent.ok && isDisconnecting(sent.problem)) await disableSubscriber(tx, keyOf(row), lastError);
      return { success: sent.ok };
    });
}
