import type { TokenBox } from "../../integrations/token-box.ts";
import type { SendingRow } from "./queries.ts";

/** The bot's token; undefined when the master secret has changed, so that nobody can open it any more. */
export function openBotToken(
  tokenBox: TokenBox,
  { workspace_id: workspaceId, id: integrationId, bot_token }: SendingRow,
): string | undefined {
  try {
    return tokenBox.open(bot_token, { kind: "slack", workspaceId, integrationId });
  } catch {
    return undefined;
  }
}

export const unreadableToken =
  "The bot's token cannot be read, because SECRET of this service has changed. Connect Slack again.";
