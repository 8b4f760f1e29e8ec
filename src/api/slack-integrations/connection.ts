import type { SlackProblem, SlackResult } from "../../integrations/slack/result.ts";
import { isDisconnecting, sentenceOf } from "../../integrations/slack/sentences.ts";
import type { CallError } from "../../lib/errors.ts";
import { fail } from "../../lib/errors.ts";
import type { SubscriberKey } from "../../outbox/sender.ts";
import { disableSubscriber } from "../../outbox/subscribers.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { openBotToken, unreadableToken } from "./bot-token.ts";
import type { SlackDeps } from "./deps.ts";
import { findIntegration, type IntegrationRow } from "./queries.ts";

/** The workspace's integration, and the bot's token. */
export interface Connection {
  readonly row: IntegrationRow;
  readonly botToken: string;
}

export function notConnected(): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", "the workspace is not connected to Slack: connect it first");
}

/** Refuses calls that need the operator's app at Slack. */
export function notConfigured(): CallError {
  return fail(
    "FAILED_PRECONDITION",
    "FAILED_PRECONDITION",
    "this service has no app at Slack: its operator sets SLACK_CLIENT_ID and SLACK_CLIENT_SECRET",
  );
}

export function notActive(): CallError {
  return fail(
    "FAILED_PRECONDITION",
    "INTEGRATION_NOT_ACTIVE",
    "Slack refuses the bot's token: connect Slack again, or delete the integration",
  );
}

/** Throws NOT_FOUND when nothing is connected. */
export async function findConnection(
  { tokenBox }: Pick<SlackDeps, "tokenBox">,
  context: Context,
): Promise<Connection> {
  const row = await findIntegration(context.db, callerOf(context).workspaceId);
  if (row === undefined) throw notConnected();
  const botToken = openBotToken(tokenBox, row);
  if (botToken === undefined) throw fail("FAILED_PRECONDITION", "INTEGRATION_NOT_ACTIVE", unreadableToken);
  return { row, botToken };
}

export function keyOf({ workspace_id: workspaceId, id: subscriberId }: IntegrationRow): SubscriberKey {
  return { workspaceId, subscriberId };
}

/** What Slack answered. Throws for problems that are the same for every call; `refused` takes the others. */
export async function answered<Value>(
  { context, row }: { readonly context: Context; readonly row: IntegrationRow },
  result: SlackResult<Value>,
  refused: (word: string) => CallError | undefined = () => undefined,
): Promise<Value> {
  if (result.ok) return result.value;
  const { problem } = result;
  if (isDisconnecting(problem)) {
    await disableSubscriber(context.db, keyOf(row), sentenceOf(problem));
    throw notActive();
  }
  const known = problem.kind === "refused" ? refused(problem.error) : undefined;
  throw known ?? callErrorOf(problem);
}

/** The refusal of a call that Slack refused, or did not answer. */
export function callErrorOf(problem: SlackProblem): CallError {
  if (problem.kind === "refused")
    return fail("FAILED_PRECONDITION", "FAILED_PRECONDITION", sentenceOf(problem));
  const retryAfterSeconds = problem.kind === "limited" ? problem.seconds : 10;
  return fail("UNAVAILABLE", "UNAVAILABLE", "Slack cannot be asked at the moment: try again later", {
    retryAfterSeconds,
    cause: problem,
  });
}
