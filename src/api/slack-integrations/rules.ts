import { type CallError, fail } from "../../lib/errors.ts";

/** Refuses a channel that the bot cannot post to. */
export function channelNotJoined(field: string, id: string): CallError {
  return fail(
    "FAILED_PRECONDITION",
    "CHANNEL_NOT_JOINED",
    `${field}: the bot is not in channel ${id}: let it join a public channel, or invite it in Slack`,
  );
}

export function channelRequired(): CallError {
  return fail("FAILED_PRECONDITION", "CHANNEL_REQUIRED", "no channel is chosen: set slackChannelId first");
}
