import { beginAttempt, type NoAttempt } from "../agents/attempts.ts";
import type { ClaimTokens } from "../agents/claim-tokens.ts";
import { type PollDeps, pollClaim } from "../agents/poll-claim.ts";
import { type RegisterDeps, registerAgent, type ShownAttempt, shownAttempt } from "../agents/register.ts";
import { defaultPostClaimScope } from "../agents/scopes.ts";
import { shownName } from "../lib/clean-text.ts";
import { asObject } from "../model/json-fields.ts";
import { scopeText } from "../model/scope.ts";
import { type OauthFault, oauthFault } from "../oauth/oauth-fault.ts";
import type { AnswerGrant } from "../oauth/token-endpoint.ts";
import { isEmail, normalEmail } from "../people/members.ts";
import type { AuthDeps } from "./deps.ts";

/** What the endpoints of agents are given. */
export interface AgentsDeps extends Pick<RegisterDeps, "grants" | "createWorkspace"> {
  /** Whether agents may make workspaces. */
  readonly mayRegister: boolean;
  readonly tokens: ClaimTokens;
  /** Every scope there is. */
  readonly scopes: ReadonlySet<string>;
}

type EndpointDeps = Pick<AuthDeps, "db" | "now" | "agents" | "authUrl">;

/** The grant type with which agents poll for their wider tokens. */
export const claimGrantType = "urn:workos:agent-auth:grant-type:claim";

/** What the metadata of the authorization server tell agents. */
export function agentMetadata({
  authUrl,
  baseUrl,
}: {
  readonly authUrl: string;
  readonly baseUrl: string;
}): object {
  return {
    agent_auth: {
      skill: `${baseUrl}/auth.md`,
      identity_endpoint: `${authUrl}/agent/identity`,
      claim_endpoint: `${authUrl}/agent/identity/claim`,
      identity_types_supported: ["service_auth"],
    },
  };
}

/** The most characters of an agent's name. */
const nameMax = 100;

/** Registers an agent. Throws an `OauthFault` for what it refuses. */
export async function answerRegistration(
  { db, now, agents, authUrl }: EndpointDeps,
  json: unknown,
  address: string,
): Promise<object> {
  if (!agents.mayRegister) {
    const description = "agents cannot register here; ask a member of a workspace for a token";
    throw oauthFault("access_denied", description, { status: 403 });
  }
  const { email, clientName, scope } = readRegistration(json, agents.scopes);
  const { tokens, grants, createWorkspace } = agents;
  const order = { email, clientName, scope, address };
  const made = await registerAgent({ db, now, tokens, grants, createWorkspace }, order);
  if ("waitSeconds" in made) throw tooMany(made.waitSeconds);
  return {
    registration_id: made.registrationId,
    registration_type: "service_auth",
    claim_token: made.claimToken,
    claim_token_expires: made.expiresAt.toISOString(),
    post_claim_scopes: scope.split(" "),
    claim: attemptJson(authUrl, made.attempt, now()),
    access_token: made.accessToken,
    token_type: "Bearer",
    scope: made.scope,
  };
}

function readRegistration(json: unknown, known: ReadonlySet<string>) {
  const { type, login_hint: hint, client_name: name = "", scopes } = objectOf(json);
  if (type !== "service_auth") throw oauthFault("invalid_request", "type: must be service_auth");
  const email = typeof hint === "string" ? normalEmail(hint) : "";
  if (!isEmail(email)) {
    const description = "login_hint: must be the e-mail address of the person who is to claim the workspace";
    throw oauthFault("invalid_login_hint", description);
  }
  const clientName = typeof name === "string" ? shownName(name) : undefined;
  if (clientName === undefined || [...clientName].length > nameMax)
    throw oauthFault("invalid_request", `client_name: must be a text of at most ${nameMax} characters`);
  return { email, clientName, scope: wantedScope(scopes, known) };
}

function objectOf(json: unknown): Readonly<Record<string, unknown>> {
  const body = asObject(json);
  if (body === undefined) throw oauthFault("invalid_request", "the body must be a JSON object");
  return body;
}

/** The scopes that an agent asks for, as a list or as one text. */
function wantedScope(asked: unknown, known: ReadonlySet<string>): string {
  if (asked === undefined || asked === null) return defaultPostClaimScope(known);
  const listed: readonly unknown[] = Array.isArray(asked) ? asked : [];
  const names = typeof asked === "string" ? asked.split(" ") : listed;
  const scopes = names.filter((name) => typeof name === "string" && known.has(name));
  if (names.length === 0 || scopes.length < names.length)
    throw oauthFault("invalid_scope", "scopes: must be a list of scopes that /v1/api-scopes names");
  return scopeText(scopes.map(String));
}

function attemptJson(authUrl: string, { token, userCode, expiresAt, interval }: ShownAttempt, at: Date) {
  return {
    user_code: userCode,
    verification_uri: `${authUrl}/agent/claim?claim_attempt_token=${token}`,
    interval,
    expires_in: Math.floor((expiresAt.getTime() - at.getTime()) / 1000),
  };
}

/** Why there is no newer link, with the status and the words for it. */
const refusals: Readonly<Record<Exclude<NoAttempt, "too-many">, readonly [string, number, string]>> = {
  unknown: ["invalid_claim_token", 400, "claim_token: is none of this service; register again"],
  claimed: ["previously_claimed", 409, "the workspace was claimed; ask the token endpoint for your tokens"],
  expired: ["claim_expired", 410, "the registration has ended; register again"],
};

const daySeconds = 24 * 60 * 60;

/** Makes a newer claim link. Throws an `OauthFault` for what it refuses. */
export async function answerNewerLink(
  { db, now, agents: { tokens }, authUrl }: EndpointDeps,
  json: unknown,
): Promise<object> {
  const { claim_token: claimToken } = objectOf(json);
  if (typeof claimToken !== "string")
    throw oauthFault("invalid_request", "claim_token: must be the text that the registration gave");
  const begun = await beginAttempt({ db, now, tokens }, claimToken);
  if (begun === "too-many") throw tooMany(daySeconds);
  if (typeof begun === "string") {
    const [error, status, description] = refusals[begun];
    throw oauthFault(error, description, { status });
  }
  return {
    registration_id: begun.registrationId,
    claim_attempt: attemptJson(authUrl, shownAttempt(tokens, begun), now()),
  };
}

function tooMany(seconds: number): OauthFault {
  const description = "too many registrations or claim links; try again later";
  return oauthFault("rate_limited", description, { status: 429, retryAfterSeconds: seconds });
}

/** Answers polls at the token endpoint, in the manner of a device code (RFC 8628). */
export function answerClaimGrant(deps: PollDeps): AnswerGrant {
  return async (form) => {
    const polled = await pollClaim(deps, {
      claimToken: form.get("claim_token") ?? "",
      resource: form.get("resource"),
    });
    if ("error" in polled) throw oauthFault(polled.error, polled.description);
    return polled;
  };
}
