import { once } from "node:events";
import type { Db } from "../../db/open.ts";
import { stepMessage } from "../../integrations/slack/messages.ts";
import type { SlackProblem } from "../../integrations/slack/result.ts";
import { isDisconnecting, isUnsendable, sentenceOf } from "../../integrations/slack/sentences.ts";
import type { Slack } from "../../integrations/slack/slack.ts";
import type { TokenBox } from "../../integrations/token-box.ts";
import type { Deliver, Failed, Sender } from "../../outbox/sender.ts";
import { openBotToken, unreadableToken } from "./bot-token.ts";
import { findSending, type SendingRow } from "./queries.ts";

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

function deliverTo({ slack, tokenBox }: SlackSenderDeps, row: SendingRow): Deliver {
  return async ({ body }, signal) => {
    const token = openBotToken(tokenBox, row);
    if (token === undefined) return lostToken;
    const sent = await unlessAborted(slack.post(token, row.channel_id, stepMessage(body)), signal);
    if (sent === undefined) return stopped;
    return sent.ok ? { isDelivered: true, status: 200, response: "" } : failureOf(sent.problem);
  };
}

/** Slack's library takes no signal: its request is left alone, and ends with the process or with its time-out. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  const done = new AbortController();
  try {
    const aborted = signal.aborted ? Promise.resolve() : once(signal, "abort", { signal: done.signal });
    return await Promise.race([work, aborted.then(() => undefined)]);
  } finally {
    done.abort();
  }
}

const stopped: Failed = {
  isDelivered: false,
  status: undefined,
  response: "",
  reason: "The service stopped before Slack answered.",
};
const lostToken: Failed = { isDelivered: false, status: undefined, response: "", reason: unreadableToken };

function failureOf(problem: SlackProblem): Failed {
  const common = { isDelivered: false, response: "", reason: sentenceOf(problem) } as const;
  if (problem.kind === "unreachable") return { ...common, status: undefined };
  if (problem.kind === "limited") return { ...common, status: 429, retryAfterMs: problem.seconds * 1_000 };
  return {
    ...common,
    status: 200,
    response: problem.error,
    ...(isDisconnecting(problem) && { isFinal: true }),
    ...(isUnsendable(problem) && { isHopeless: true }),
  };
}
