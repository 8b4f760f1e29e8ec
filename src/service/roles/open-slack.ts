import { createSlack, type Slack } from "../../integrations/slack/slack.ts";
import type { Config } from "../config.ts";
import type { Addresses } from "./parts.ts";

/** The page of the documentation to which browsers return without a page of the operator's. */
export const connectedPath = "/docs/connected";

/** Where browsers return to from Slack and Google. */
export function oauthReturnUrl(config: Pick<Config, "oauthReturnUrl">, { baseUrl }: Addresses): string {
  return config.oauthReturnUrl ?? `${baseUrl}${connectedPath}`;
}

/** Slack with the operator's app. Nothing is loaded before the first call. */
export function openSlack(config: Config, addresses: Addresses): Slack {
  return createSlack({ config: config.slack, returnUrl: oauthReturnUrl(config, addresses) });
}
