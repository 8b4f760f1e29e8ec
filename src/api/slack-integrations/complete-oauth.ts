import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CompleteSlackOAuthRequest,
  CompleteSlackOAuthResponseSchema,
} from "../../../gen/signpost/v1/slack_integrations_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { fail, invalid } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { type Context, callerOf, type Write } from "../../rpc/handlers.ts";
import { callErrorOf, notConfigured } from "./connection.ts";
import type { SlackDeps } from "./deps.ts";
import { toSlackIntegration } from "./message.ts";
import { findIntegration } from "./queries.ts";
import { insertIntegration } from "./writes.ts";

/** Slack's words for faults of the operator's settings, not of the code. */
const settingsWords = new Set(["bad_client_secret", "bad_redirect_uri", "invalid_client_id"]);

/** Exchanges the code for a bot's token. The part that is left replaces the workspace's integration. */
export async function completeOauth(
  { jobCall, now, oauthStates, slack, tokenBox }: SlackDeps,
  { code, state }: CompleteSlackOAuthRequest,
  context: Context,
): Promise<Write<MessageInitShape<typeof CompleteSlackOAuthResponseSchema>>> {
  const caller = callerOf(context);
  await oauthStates.check(state, "slack", caller);
  const installed = await slack.exchangeCode(code);
  if (installed === undefined) throw notConfigured();
  if (!installed.ok) {
    const { problem } = installed;
    if (problem.kind !== "refused") throw callErrorOf(problem);
    if (settingsWords.has(problem.error)) throw badSettings(problem.error);
    const description = `Slack refuses it (${problem.error}): begin again with a new authorization address`;
    throw invalid([{ field: "code", description }], "INVALID_STATE");
  }
  const { botToken, teamId, teamName } = installed.value;
  const { workspaceId } = caller;
  return (db) =>
    inTransaction(db, async (tx) => {
      const at = now();
      const id = newId(at);
      const sealedToken = tokenBox.seal(botToken, { kind: "slack", workspaceId, integrationId: id });
      const ids = { workspace_id: workspaceId, id, team_id: teamId, team_name: teamName };
      const created_by = caller.memberId ?? null;
      await insertIntegration(tx, jobCall, { ...ids, created_by, sealedToken, botToken, at });
      const row = await findIntegration(tx, workspaceId);
      return row && { slackIntegration: toSlackIntegration(row) };
    });
}

function badSettings(word: string) {
  return fail(
    "FAILED_PRECONDITION",
    "FAILED_PRECONDITION",
    `Slack refuses this service's app (${word}): its operator compares SLACK_CLIENT_ID, SLACK_CLIENT_SECRET and
    OAUTH_RETURN_URL with what Slack shows`.replace(/\s+/g, " "),
  );
}
