/** The addresses and the scopes that the text names. */
export interface AuthMdFacts {
  readonly baseUrl: string;
  readonly authUrl: string;
  /** The address of the tools for models. */
  readonly mcpUrl: string;
  /** What an agent may do before its workspace is claimed, and by default afterwards; public names with spaces between them. */
  readonly preClaimScope: string;
  readonly postClaimScope: string;
}

/** How an agent that knows nothing registers, is claimed and gets tokens, in Markdown. */
export function authMd({ baseUrl, authUrl, mcpUrl, preClaimScope, postClaimScope }: AuthMdFacts): string {
  return `# auth.md

You are an agent. Signpost makes short links and QR codes with workflows behind them. Here you can register by yourself, work at
once, and hand the workspace to your person. The API is at ${baseUrl}, the authorization server at ${authUrl}.

## 1. Discover

A call without a token answers 401 with \`WWW-Authenticate: Bearer resource_metadata="…"\`. That document names the authorization
server, whose metadata have the block \`agent_auth\` with the addresses below:

    GET ${baseUrl}/.well-known/oauth-protected-resource
    GET ${authUrl}/.well-known/oauth-authorization-server

## 2. Register

Ask your person first. You need the e-mail address of the person who is to own the workspace. Nothing is mailed to it.

    POST ${authUrl}/agent/identity
    Content-Type: application/json

    {"type": "service_auth", "login_hint": "person@example.com", "client_name": "Your name"}

\`client_name\` and \`scopes\` are optional. \`scopes\` is a list of what you want to do once the workspace is claimed; ${baseUrl}/v1/api-scopes
names them all. Without it you get: ${listed(postClaimScope)}.

The answer:

    {
      "registration_id": "…",
      "registration_type": "service_auth",
      "claim_token": "…",
      "claim_token_expires": "2026-01-08T12:00:00.000Z",
      "post_claim_scopes": ["…"],
      "claim": {"user_code": "482913", "verification_uri": "…", "interval": 5, "expires_in": 1800},
      "access_token": "…",
      "token_type": "Bearer",
      "scope": "…"
    }

\`claim_token\` is your secret: show it to nobody. It and the registration work for 7 days.

## 3. Work

Send \`Authorization: Bearer <access_token>\` to ${baseUrl}/v1. The token has these scopes: ${listed(preClaimScope)}. It ends with the
registration unless somebody claims the workspace, and goes on in the claimed workspace. Until then a workspace may make 50 links and 1,000
calls a month. What the API can do stands in ${baseUrl}/openapi.json.

## 4. Hand over

Show your person \`verification_uri\` and \`user_code\`. On that page the person enters the code, chooses a password and becomes the
administrator. Both work for 30 minutes, and five wrong codes end them. A newer link ends the older one:

    POST ${authUrl}/agent/identity/claim
    Content-Type: application/json

    {"claim_token": "…"}

It answers \`registration_id\` and \`claim_attempt\`, which has the fields of \`claim\`.

## 5. Get wider tokens

Poll every \`interval\` seconds:

    POST ${authUrl}/oauth2/token
    Content-Type: application/x-www-form-urlencoded

    grant_type=urn:workos:agent-auth:grant-type:claim&claim_token=…

\`authorization_pending\`: go on. \`slow_down\`: wait 5 seconds longer each time. \`expired_token\`: make a newer link, or register again
when the registration has ended. Once the workspace is claimed, the answer has \`access_token\` (1 hour), \`refresh_token\` (30 days),
\`expires_in\`, \`token_type\` and \`scope\`, once. Add \`resource=${mcpUrl}\` for a token for the tools at that address.

Refresh before the hour ends, and keep the new refresh token: the old one works no longer.

    grant_type=refresh_token&client_id=<registration_id>&refresh_token=…

## Errors

| where | error | what to do |
| --- | --- | --- |
| register | \`invalid_request\`, \`invalid_login_hint\`, \`invalid_scope\` | mend the named field |
| register, newer link | \`rate_limited\` (429) | wait for the seconds in \`Retry-After\` |
| newer link | \`invalid_claim_token\`, \`claim_expired\` | register again |
| newer link | \`previously_claimed\` | poll for your tokens |
| token | \`invalid_grant\` | the claim token is unknown, or its tokens were given already |
| API | 401 with a token that worked | your access was ended: register again, if your person wants it |

Your person sees and ends your access at ${authUrl}/account.
`;
}

function listed(scope: string): string {
  return scope
    .split(" ")
    .map((name) => `\`${name}\``)
    .join(", ");
}
