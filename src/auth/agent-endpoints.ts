import type { IncomingMessage, ServerResponse } from "node:http";
import { beginAttempt, type NoAttempt } from "../agents/attempts.ts";
import type { ClaimTokens } from "../agents/claim-tokens.ts";
import { type RegisterDeps, registerAgent, type ShownAttempt, shownAttempt } from "../agents/register.ts";
import { defaultPostClaimScope } from "../agents/scopes.ts";
import { describeFailure } from "../db/describe-failure.ts";
import { discardBody, dropMax } from "../lib/limits/request-body.ts";
import { asObject } from "../model/json-fields.ts";
import { scopeText } from "../model/scope.ts";
import { isEmail, normalEmail } from "../people/members.ts";
import { nameOf } from "./asked-mails.ts";
import type { AuthDeps } from "./deps.ts";
import { parseJson, readBody } from "./read-body.ts";

/** What the endpoints of agents are given. */
export interface AgentsDeps extends Pick<RegisterDeps, "grants" | "createWorkspace"> {
  /** Whether agents may make workspaces. */
  readonly mayRegister: boolean;
  readonly tokens: ClaimTokens;
  /** What each scope allows, as one sentence, by its public name. */
  readonly scopeSentences: ReadonlyMap<string, string>;
}

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

type Endpoint = (body: Readonly<Record<string, unknown>>, address: string) => Promise<Answer>;

/** The agent's side of claims, in JSON: registrations, and newer claim links. Errors have the form of OAuth (RFC 6749, 5.2). */
export function agentHandler(
  deps: AuthDeps,
): (req: IncomingMessage, res: ServerResponse, name: string) => Promise<void> {
  const endpoints: Readonly<Record<string, Endpoint>> = {
    "agent/identity": (body, address) => register(deps, body, address),
    "agent/identity/claim": (body) => claimAnew(deps, body),
  };

  async function answerOf(req: IncomingMessage, name: string): Promise<Answer> {
    const endpoint = endpoints[name];
    if (endpoint === undefined) return oauthError(404, "not_found", "there is no such endpoint");
    if (req.method !== "POST")
      return { ...oauthError(405, "invalid_request", "use POST"), headers: { allow: "POST" } };
    const { address } = deps.originOf(req);
    const body = asObject(parseJson(await readBody(req, { mediaType: "application/json", address })));
    if (body === undefined) return oauthError(400, "invalid_request", "the body is no JSON object");
    return endpoint(body, address);
  }

  return async (req, res, name) => {
    const { status, body, headers } = await answerOf(req, name).catch((thrown: unknown) =>
      refused(deps, thrown),
    );
    const text = JSON.stringify(body);
    res.writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...headers,
    });
    res.end(text);
    discardBody(req, dropMax);
  };
}

/** Whether a page's name is one of these endpoints. */
export function isAgentEndpoint(name: string): boolean {
  return name === "agent/identity" || name === "agent/identity/claim";
}

/** The most characters of an agent's name. */
const nameMax = 100;

async function register(
  { db, now, agents, authUrl }: AuthDeps,
  body: Readonly<Record<string, unknown>>,
  address: string,
): Promise<Answer> {
  if (!agents.mayRegister)
    return oauthError(
      403,
      "access_denied",
      "agents cannot register here; ask a member of a workspace for a token",
    );
  const { type, login_hint: hint, client_name: name = "" } = body;
  if (type !== "service_auth") return oauthError(400, "invalid_request", "type: must be service_auth");
  const email = typeof hint === "string" ? normalEmail(hint) : "";
  if (!isEmail(email)) {
    const what = "login_hint: must be the e-mail address of the person who is to claim the workspace";
    return oauthError(400, "invalid_login_hint", what);
  }
  const clientName = typeof name === "string" ? nameOf(name) : undefined;
  if (clientName === undefined || [...clientName].length > nameMax)
    return oauthError(400, "invalid_request", `client_name: must be a text of at most ${nameMax} characters`);
  const scope = wantedScope(body.scopes, agents.scopeSentences);
  if (scope === undefined)
    return oauthError(400, "invalid_scope", "scopes: must be a list of scopes that /v1/api-scopes names");
  const { tokens, grants, createWorkspace } = agents;
  const order = { email, clientName, scope, address };
  const made = await registerAgent({ db, now, tokens, grants, createWorkspace }, order);
  if ("waitSeconds" in made) return tooMany(made.waitSeconds);
  return {
    status: 200,
    body: {
      registration_id: made.registrationId,
      registration_type: "service_auth",
      claim_token: made.claimToken,
      claim_token_expires: made.expiresAt.toISOString(),
      post_claim_scopes: scope.split(" "),
      claim: attemptJson(authUrl, made.attempt, now()),
      access_token: made.accessToken,
      token_type: "Bearer",
      scope: made.scope,
    },
  };
}

/** The scopes that an agent asks for, as a list or as one text; undefined when one of them is none. */
function wantedScope(asked: unknown, known: ReadonlyMap<string, string>): string | undefined {
  if (asked === undefined || asked === null) return defaultPostClaimScope(known.keys());
  const names: readonly unknown[] =
    typeof asked === "string" ? asked.split(" ") : Array.isArray(asked) ? asked : [];
  const scopes = names.filter((name) => typeof name === "string" && known.has(name));
  return names.length === 0 || scopes.length < names.length ? undefined : scopeText(scopes.map(String));
}

function attemptJson(
  authUrl: string,
  { token, userCode, expiresAt, interval }: ShownAttempt,
  at: Date,
): object {
  return {
    user_code: userCode,
    verification_uri: `${authUrl}/agent/claim?claim_attempt_token=${token}`,
    interval,
    expires_in: Math.floor((expiresAt.getTime() - at.getTime()) / 1000),
  };
}

const noAttempt: Readonly<Record<Exclude<NoAttempt, "too-many">, Answer>> = {
  unknown: oauthError(400, "invalid_claim_token", "claim_token: is none of this service; register again"),
  claimed: oauthError(
    409,
    "previously_claimed",
    "the workspace was claimed; ask the token endpoint for your tokens",
  ),
  expired: oauthError(410, "claim_expired", "the registration has ended; register again"),
};

async function claimAnew(
  { db, now, agents: { tokens }, authUrl }: AuthDeps,
  { claim_token: claimToken }: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  if (typeof claimToken !== "string")
    return oauthError(400, "invalid_request", "claim_token: must be the text that the registration gave");
  const begun = await beginAttempt({ db, now, tokens }, claimToken);
  if (begun === "too-many") return tooMany(24 * 60 * 60);
  if (typeof begun === "string") return noAttempt[begun];
  return {
    status: 200,
    body: {
      registration_id: begun.registrationId,
      claim_attempt: attemptJson(authUrl, shownAttempt(tokens, begun), now()),
    },
  };
}

function tooMany(seconds: number): Answer {
  return {
    ...oauthError(429, "rate_limited", `too many registrations or claim links; try again in ${seconds} s`),
    headers: { "retry-after": String(seconds) },
  };
}

function oauthError(status: number, error: string, description: string): Answer {
  return { status, body: { error, error_description: description } };
}

/** Errors of the service's own form, in OAuth's. */
function refused({ toCallError, errorAnswer, log }: AuthDeps, thrown: unknown): Answer {
  const error = toCallError(thrown);
  const { cause, retryAfterSeconds } = error.refusal;
  if (error.code === "INTERNAL" || cause !== undefined)
    log.error({ failure: describeFailure(cause ?? error) }, "an agent's request failed");
  const { status } = errorAnswer(error);
  const code = status < 500 ? "invalid_request" : status === 503 ? "temporarily_unavailable" : "server_error";
  const wait = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return { ...oauthError(status, code, error.message), headers: wait };
}
