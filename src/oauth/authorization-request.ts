import type { Client } from "./clients.ts";
import { oauthFault } from "./oauth-fault.ts";
import { isRegistered } from "./redirect-uris.ts";
import { type Resource, type ResourceAddresses, resourceOf } from "./resources.ts";

/** What a program asks a member for. */
export interface AuthorizationRequest {
  readonly client: Client;
  readonly redirectUri: string;
  /** What the program gets back unread. */
  readonly state: string | undefined;
  /** The SHA-256 of the secret that the program will show for the code (PKCE). */
  readonly challenge: string;
  /** Public names. A write scope includes its read scope. */
  readonly scopes: readonly string[];
  readonly resource: Resource;
}

/** The most characters of a request. A cookie has to hold it while a member signs in. */
export const requestLengthMax = 3_000;

const names = [
  "client_id",
  "redirect_uri",
  "response_type",
  "state",
  "code_challenge",
  "code_challenge_method",
  "scope",
  "resource",
] as const;

/** Throws when a parameter that means something here stands there twice, or the whole is too long. */
export function checkOnce(query: URLSearchParams): void {
  if (query.toString().length > requestLengthMax)
    throw oauthFault("invalid_request", `the request may have ${requestLengthMax} characters at most`);
  const twice = names.find((name) => query.getAll(name).length > 1);
  if (twice !== undefined) throw oauthFault("invalid_request", `${twice}: must be given once`);
}

/** The redirect URI of a request. Throws when the program has not registered it: nobody must be sent there. */
export function redirectUriOf(query: URLSearchParams, { redirectUris }: Client): string {
  const given = query.get("redirect_uri");
  const [only, ...others] = redirectUris;
  const uri = given ?? (others.length === 0 ? only : undefined) ?? "";
  if (!isRegistered(uri, redirectUris))
    throw oauthFault("invalid_request", "redirect_uri: must be one that the program has registered");
  return uri;
}

export interface RequestTerms {
  readonly resources: ResourceAddresses;
  /** Every scope there is. */
  readonly scopes: ReadonlySet<string>;
  /** The scopes of programs that ask for none. */
  readonly usualScopes: ReadonlySet<string>;
}

/** Reads the rest of a request. Throws what the program should learn. */
export function readRequest(
  query: URLSearchParams,
  { client, redirectUri }: Pick<AuthorizationRequest, "client" | "redirectUri">,
  { resources, scopes, usualScopes }: RequestTerms,
): AuthorizationRequest {
  if (query.get("response_type") !== "code")
    throw oauthFault("unsupported_response_type", "response_type: must be code");
  const challenge = query.get("code_challenge") ?? "";
  if (query.get("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(challenge))
    throw oauthFault("invalid_request", "code_challenge: must be the SHA-256 of PKCE, with the method S256");
  // Programs that do not know `resource` are none for tools: the protocol of tools demands it.
  const resource = resourceOf(query.get("resource") ?? resources.API, resources);
  if (resource === undefined)
    throw oauthFault("invalid_target", `resource: must be ${resources.API} or ${resources.MCP}`);
  const asked = query.get("scope")?.split(" ").filter(Boolean) ?? [...usualScopes];
  // Programs ask for what they know, such as offline_access.
  const known = [...new Set(asked)].filter((name) => scopes.has(name));
  if (known.length === 0) throw oauthFault("invalid_scope", "scope: none of these exists here");
  return { client, redirectUri, state: query.get("state") ?? undefined, challenge, scopes: known, resource };
}

/** The address at which a program gets an answer, which also says who answers (RFC 9207). */
export function answerAddress(
  { redirectUri, state }: Pick<AuthorizationRequest, "redirectUri" | "state">,
  answer: Readonly<Record<string, string>>,
  issuer: string,
): string {
  const parameters = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: issuer });
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${parameters}`;
}
