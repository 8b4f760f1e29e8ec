import type { SlackProblem } from "./result.ts";

/** Slack's words for a token that will never work again (behaviour 8.22). */
const deadTokenWords = new Set(["account_inactive", "invalid_auth", "token_expired", "token_revoked"]);

/** Whether the bot's token is dead, so that somebody has to connect Slack again. */
export function isDisconnecting(problem: SlackProblem): boolean {
  return problem.kind === "refused" && deadTokenWords.has(problem.error);
}

const again = "Connect Slack again.";

const sentences: Readonly<Record<string, string>> = {
  account_inactive: `The app was removed from the Slack team. ${again}`,
  invalid_auth: `Slack does not know the bot's token any more. ${again}`,
  token_expired: `The bot's token has expired. ${again}`,
  token_revoked: `The bot's token was revoked at Slack. ${again}`,
  missing_scope: `The bot lacks a permission at Slack. ${again}`,
  not_allowed_token_type: `The bot lacks a permission at Slack. ${again}`,
  channel_not_found:
    "The bot cannot see the channel: it was deleted, or it is private. Invite the bot in Slack, or choose another channel.",
  not_in_channel: "The bot is not in the channel. Let it join, or invite it in Slack.",
  is_archived: "The channel is archived. Unarchive it in Slack, or choose another channel.",
  method_not_supported_for_channel_type:
    "The bot cannot join a private channel by itself. Invite it in Slack.",
  restricted_action:
    "The Slack team does not let apps post to the channel. Ask its owners, or choose another channel.",
  restricted_action_read_only_channel: "The channel is read-only. Choose another channel.",
  restricted_action_non_threadable_channel: "The channel takes no messages of apps. Choose another channel.",
  team_access_not_granted: "The organization at Slack has not allowed the app for this team. Ask its owners.",
};

/** Says what went wrong and what to do about it. */
export function sentenceOf(problem: SlackProblem): string {
  if (problem.kind === "limited") return `Slack takes no more messages for ${problem.seconds} seconds.`;
  if (problem.kind === "unreachable") return "Slack did not answer as it should. The service tries again.";
  return sentences[problem.error] ?? `Slack refused the call: ${problem.error}.`;
}
