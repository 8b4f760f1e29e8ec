import type { Db } from "../../db/open.ts";
import { stepMessage } from "../../integrations/slack/messages.ts";
import { isDisconnecting, sentenceOf } from "../../integrations/slack/sentences.ts";
import type { Slack } from "../../integrations/slack/slack.ts";
import type { TokenBox } from "../../integrations/token-box.ts";
import type { Deliver, Outcome, Sender } from "../../outbox/sender.ts";
import { findSending, type SendingRow } from "./queries.ts";
import { keepLastError } from "./writes.ts";

export interface SlackSenderDeps {
  readonly db: Db;
  readonly slack: Pick<Slack, "post">;
  readonly tokenBox: TokenBox;
}

/** Sends what the outbox has for channels at Slack (behaviour 8.22). */
export function createSlackSender(deps: SlackSenderDeps): Sender {
  return {
    pace: { inFlightMax: 1, intervalMs: 1_000, waitingMax: 1_000 },
    async open(subscribers) {
      const rows = await findSending(deps.db, subscribers);
      return new Map(rows.map((row) => [row.id, deliverTo(deps, row)]));
    },
  };
}

const unreadableToken =
  "The bot's token cannot be read, because SECRET of this service has changed. Connect Slack again.";

function deliverTo({ db, slack, tokenBox }: SlackSenderDeps, row: SendingRow): Deliver {
  const key = { workspaceId: row.workspace_id, subscriberId: row.id };
  const place = { kind: "slack", workspaceId: row.workspace_id, integrationId: row.id } as const;
  let lastError = row.last_error;
  return async ({ body }) => {
    const outcome = await deliver();
    const sentence = outcome.isDelivered ? "" : outcome.reason;
    if (sentence !== lastError) {
      lastError = sentence;
      // A sentence that is not kept now is kept with the next message.
      await keepLastError(db, key, sentence).catch(() => {});
    }
    return outcome;

    function tokenOf(): string | undefined {
      try {
        return tokenBox.open(row.bot_token, place);
      } catch {
        return undefined;
      }
    }

    async function deliver(): Promise<Outcome> {
      const token = tokenOf();
      if (token === undefined)
        return { isDelivered: false, status: undefined, response: "", reason: unreadableToken };
      const sent = await slack.post(token, row.channel_id, stepMessage(body));
      if (sent.ok) return { isDelivered: true, status: 200, response: "" };
      const { problem } = sent;
      return {
        isDelivered: false,
        status: problem.kind === "unreachable" ? undefined : problem.kind === "limited" ? 429 : 200,
        response: problem.kind === "refused" ? problem.error : "",
        reason: sentenceOf(problem),
        ...(problem.kind === "limited" && { retryAfterMs: problem.seconds * 1_000 }),
        ...(isDisconnecting(problem) && { isFinal: true }),
      };
    }
  };
}
