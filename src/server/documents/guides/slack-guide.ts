import { guidePage } from "./guide-page.ts";

const settings = `SLACK_CLIENT_ID=…        # Basic Information, App Credentials
SLACK_CLIENT_SECRET=…
OAUTH_RETURN_URL=…       # a page of yours; otherwise BASE_URL/docs/connected`;

const connecting = `curl "$API/v1/slack-integrations/oauth-url" -H "Authorization: Bearer $TOKEN"
# Open oauthUrl in a browser and allow the app. The browser returns with code and state in its address.
curl "$API/v1/slack-integrations/oauth/complete" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" -d '{"code": "…", "state": "…"}'`;

const choosing = `curl "$API/v1/slack-integrations/channels" -H "Authorization: Bearer $TOKEN"
# A public channel that the bot is not in yet:
curl -X POST "$API/v1/slack-integrations/channels/C0123456789:join" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" -d '{}'
curl -X PATCH "$API/v1/slack-integrations" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"slackChannelId": "C0123456789", "triggers": ["KIND_INTERACTION"]}'
curl -X POST "$API/v1/slack-integrations/test" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" -d '{}'`;

/** How a workspace sends messages to Slack. */
export const slackGuide = guidePage("Slack", [
  `A workspace can be connected to one Slack team. Each workflow step that a visitor completes then makes one message in
  a channel. Visits of bots and AI agents make none.`,
  { heading: "Once for each service: an app at Slack" },
  `The operator makes an app at <a href="https://api.slack.com/apps">api.slack.com/apps</a>. Under OAuth &amp; Permissions
  it gets the redirect URL <code>BASE_URL/docs/connected</code>, or that of a page of yours, and the bot scopes
  <code>chat:write</code>, <code>channels:read</code>, <code>groups:read</code> and <code>channels:join</code>. Token
  rotation stays off. The service is started with:`,
  { code: settings, language: "sh" },
  { heading: "Connect the workspace" },
  `The address works for ten minutes, and the code is taken from the same token or member that asked for the address.`,
  { code: connecting, language: "sh" },
  { heading: "Choose the channel and the steps" },
  `The bot joins public channels by itself. To a private one it is invited in Slack. <code>triggers</code> are kinds of
  steps, <code>linkId</code> is a link; without them all steps of all links are told.`,
  { code: choosing, language: "sh" },
  { heading: "What a channel gets" },
  `One message in a second. A message that Slack does not take is tried
  again, at first after five seconds, at last after three days. At most 1,000 messages wait; then the oldest is dropped.
  What visitors typed is shown as they typed it: it makes no link and mentions nobody.`,
  { heading: "When messages stay away" },
  `<code>GET /v1/slack-integrations</code> tells in <code>lastError</code> why Slack refused the last message, and what to
  do. <code>SLACK_INTEGRATION_STATUS_DISCONNECTED</code> means that the bot's token is dead: somebody removed the app from
  the team. Connect the workspace again.`,
  `Deleting the integration revokes the bot's token, unless another workspace is connected to the same team.`,
]);

/** Where browsers return from Slack and Google when the operator has no page for that. */
export const connectedGuide = guidePage("Almost connected", [
  `You have allowed the connection. The address of this page has a <code>code</code> and a <code>state</code>. Within ten
  minutes, send both to the service with the token that asked for the authorization:`,
  {
    code: `curl "$API/v1/slack-integrations/oauth/complete" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" -d '{"code": "…", "state": "…"}'`,
    language: "sh",
  },
  `For Google Forms the path is <code>/v1/google-forms-integrations/oauth/complete</code>.`,
  `If the address has an <code>error</code> instead, the connection was not allowed, and nothing has changed.`,
]);
