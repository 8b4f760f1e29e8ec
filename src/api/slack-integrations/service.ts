import type { SlackIntegrationsService } from "../../../gen/signpost/v1/slack_integrations_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { fail } from "../../lib/errors.ts";
import { callerOf, type Handlers, inTwoParts, withCheck } from "../../rpc/handlers.ts";
import { completeOauth } from "./complete-oauth.ts";
import { answered, findConnection, notConfigured, notConnected } from "./connection.ts";
import type { SlackDeps } from "./deps.ts";
import { toSlackChannel, toSlackIntegration } from "./message.ts";
import { findIntegration } from "./queries.ts";
import { channelNotJoined } from "./rules.ts";
import { sendTest } from "./send-test.ts";
import { prepareUpdate, updateFaults } from "./update-integration.ts";
import { deleteIntegration } from "./writes.ts";

export function slackIntegrationsService(deps: SlackDeps): Handlers<typeof SlackIntegrationsService> {
  const { jobCall, oauthStates, slack } = deps;
  return {
    async get(_request, context) {
      const row = await findIntegration(context.db, callerOf(context).workspaceId);
      return row === undefined ? {} : { slackIntegration: toSlackIntegration(row) };
    },

    async listChannels(_request, context) {
      const { row, botToken } = await findConnection(deps, context);
      const channels = await answered(deps, { context, row }, await slack.listChannels(botToken));
      return { channels: channels.map(toSlackChannel) };
    },

    joinChannel: inTwoParts(async ({ id }, context) => {
      const { row, botToken } = await findConnection(deps, context);
      const joined = await slack.joinChannel(botToken, id);
      const channel = await answered(deps, { context, row }, joined, (word) =>
        word === "channel_not_found"
          ? fail("NOT_FOUND", "NOT_FOUND", `id: the bot sees no channel ${id}`)
          : channelNotJoined("id", id),
      );
      return async () => ({ channel: toSlackChannel(channel) });
    }),

    async getOAuthURL(_request, context) {
      const state = await oauthStates.make("slack", callerOf(context));
      const oauthUrl = slack.authorizeUrl(state);
      if (oauthUrl === undefined) throw notConfigured();
      return { oauthUrl };
    },

    completeOAuth: inTwoParts((request, context) => completeOauth(deps, request, context)),

    test: inTwoParts((_request, context) => sendTest(deps, context)),

    update: withCheck(
      updateFaults,
      inTwoParts((request, context) => prepareUpdate(deps, request, context)),
    ),

    async delete(_request, context) {
      const { workspaceId } = callerOf(context);
      const isGone = await inTransaction(context.db, (tx) => deleteIntegration(tx, jobCall, workspaceId));
      if (!isGone) throw notConnected();
      return {};
    },
  };
}
