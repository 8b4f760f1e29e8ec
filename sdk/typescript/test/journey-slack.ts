import assert from "node:assert/strict";
import type { Client } from "signpost-client";
import { SlackIntegrationStatus } from "signpost-client/v1/slack_integration";
import { refusalOf } from "./journey-support.ts";

/** Finds that no team is connected, and that nothing can be sent. */
export async function askForSlack({ slackIntegrations: slack }: Client): Promise<void> {
  assert.equal((await slack.get({})).slackIntegration, undefined);
  assert.equal((await refusalOf(slack.getOAuthURL({}))).reason, "FAILED_PRECONDITION");
  const completed = slack.completeOAuth({ code: "none", state: "none" });
  assert.equal((await refusalOf(completed)).reason, "INVALID_STATE");
  const status = SlackIntegrationStatus.PAUSED;
  for (const call of [
    () => slack.listChannels({}),
    () => slack.joinChannel({ id: "none" }),
    () => slack.test({}),
    () => slack.update({ status }),
    () => slack.delete({}),
  ])
    assert.equal((await refusalOf(call())).reason, "NOT_FOUND");
}
