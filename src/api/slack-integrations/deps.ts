import type { Slack } from "../../integrations/slack/slack.ts";
import type { Deps, IntegrationDeps } from "../deps.ts";

/** What the operations about Slack are given. */
export interface SlackDeps extends Pick<Deps, "jobCall" | "now">, IntegrationDeps {
  readonly slack: Slack;
}
