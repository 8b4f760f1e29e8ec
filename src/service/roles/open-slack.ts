import { createSlack, type Slack } from "../../integrations/slack/slack.ts";
import type { Config } from "../config.ts";
import type { Addresses } from "./parts.ts";

/** The page of the documentation to which browsers return without a page of the operator's. */
export const connectedPath = "/docs/connected";

/** Slack with the operator's app. Nothing is loaded before the first call. */
export function openSlack({ slack, oauthReturnUrl }: Config, { baseUrl }: Addresses): Slack {
  return createSlack({ config: slack, returnUrl: oauthReturnUrl ?? `${baseUrl}${connectedPath}` });
}
