import { type CallError, fail, type Reason } from "../../../lib/errors.ts";
import { lruCache } from "../../../lib/lru-cache.ts";
import { ownText } from "../../../lib/own-text.ts";
import type { TokenKeyType } from "../../../model/token.ts";
import { isAccessToken } from "../../../oauth/access-tokens.ts";
import type { Resource, ResourceAddresses } from "../../../oauth/resources.ts";
import { isSessionToken } from "../../../people/sessions.ts";
import type { Caller } from "../../handlers.ts";
import type { GrantIdentities } from "./grant-identities.ts";
import { grantOf } from "./grants.ts";
import type { Revocations } from "./revocations.ts";
import type { SessionIdentities } from "./session-identities.ts";
import type { TokenUse } from "./token-use.ts";
import type { VerifiedToken, VerifyToken } from "./tokens.ts";

/**
 * What a caller proves itself with: a workspace token, the session of a member or an OAuth grant. The latter two stand for a
 * token.
 */
export interface Credential {
  readonly kind: TokenKeyType | "SESSION" | "GRANT";
  readonly id: string;
}

/** The workspace and the caller that a credential speaks for. */
export interface Identity {
  readonly caller: Caller;
  readonly credential: Credential;
}

export interface AuthenticateDeps {
  readonly verifyToken: VerifyToken;
  readonly revocations: Revocations;
  readonly tokenUse: TokenUse;
  readonly sessions: SessionIdentities;
  readonly grants: GrantIdentities;
  readonly resources: ResourceAddresses;
}

export interface Authenticate {
  /**
   * Returns the caller behind an `Authorization` header, undefined without one. Throws UNAUTHENTICATED for a bad token, and
   * for one that is not for the resource that the call is made to.
   */
  identityOf(authorization: string | undefined, at: Date, resource: Resource): Promise<Identity | undefined>;
  /** The refusal of a call without a token. */
  tokenRequired(resource: Resource): CallError;
  /** The refusal of a caller without a scope. */
  scopeRequired(scope: string, kind: Credential["kind"], resource: Resource): CallError;
}

interface KnownIdentity {
  readonly token: VerifiedToken;
  identity: Identity;
  /** The scope text that `identity` was made from; a changed scope text needs a new identity. */
  scope: string;
  /** When the last use of the token was noted, in milliseconds of the Unix epoch. */
  notedAtMs: number;
}

/** Verifying costs about 90 µs, so verified tokens are kept. */
const knownMax = 10_000;

/** `lastUsedAt` moves at most once in this time, in milliseconds. */
const noteMs = 60_000;

/**
 * Reads bearer tokens. A token's signature is checked once. Its expiry, revocation and changed scopes are checked on
 * every call, without a database read.
 */
export function createAuthenticate({
  verifyToken,
  revocations,
  tokenUse,
  sessions,
  grants,
  resources,
}: AuthenticateDeps): Authenticate {
  const known = lruCache<KnownIdentity>(knownMax);
  const { refusalOf, tokenRequired, scopeRequired } = createRefusals(resources);

  async function verified(accessToken: string): Promise<KnownIdentity> {
    const verification = await verifyToken(accessToken);
    if (verification.kind === "environment-mismatch") {
      throw refusalOf(
        "a sandbox token begins with svc_test_ and a live one does not; send the token as it was issued",
        "API",
        "TOKEN_ENVIRONMENT_MISMATCH",
      );
    }
    if (verification.kind === "invalid")
      throw refusalOf("the token is malformed, or was not issued here", "API");
    const { token } = verification;
    const { scope } = token;
    const notedAtMs = Number.NEGATIVE_INFINITY;
    const entry = { token, identity: identityWith(token, scope), scope, notedAtMs };
    known.set(ownText(accessToken), entry);
    return entry;
  }

  async function identityOf(
    authorization: string | undefined,
    at: Date,
    resource: Resource,
  ): Promise<Identity | undefined> {
    if (authorization === undefined) return undefined;
    const accessToken = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (accessToken === undefined)
      throw refusalOf("send the token as `Authorization: Bearer <token>`", resource);
    if (!revocations.isFresh()) await orUnavailable(revocations.refresh());
    if (isAccessToken(accessToken)) return grantIdentity(accessToken, at, resource);
    if (resource === "MCP")
      throw refusalOf("tools take access tokens of the authorization server only", resource);
    if (isSessionToken(accessToken)) return sessionIdentity(accessToken, at);
    const entry = known.get(accessToken) ?? (await verified(accessToken));
    const { token } = entry;
    if (revocations.has(token.tokenId) || revocations.has(token.workspaceId))
      throw refusalOf("the token was revoked", "API");
    if (token.expiresAtMs <= at.getTime()) throw refusalOf("the token has expired", "API");
    const scope = revocations.scopeOf(token.tokenId) ?? token.scope;
    if (scope !== entry.scope) {
      entry.scope = scope;
      entry.identity = identityWith(token, scope);
    }
    if (at.getTime() - entry.notedAtMs >= noteMs) {
      entry.notedAtMs = at.getTime();
      tokenUse.note(token.workspaceId, token.tokenId, at);
    }
    return entry.identity;
  }

  async function sessionIdentity(accessToken: string, at: Date): Promise<Identity> {
    const session = await sessions.verify(accessToken);
    if (session === undefined) throw refusalOf("the session is malformed, or did not begin here", "API");
    if (session.expiresAtMs <= at.getTime()) throw refusalOf("the session has expired; sign in again", "API");
    const identity = revocations.has(session.workspaceId)
      ? undefined
      : await orUnavailable(sessions.identityOf(accessToken, session));
    if (identity === undefined) throw refusalOf("the session has ended; sign in again", "API");
    return identity;
  }

  async function grantIdentity(accessToken: string, at: Date, resource: Resource): Promise<Identity> {
    const token = await orUnavailable(grants.verify(accessToken));
    if (token === undefined) throw refusalOf("the access token was not issued here", resource);
    if (token.audience !== resources[resource])
      throw refusalOf(`the access token is for ${token.audience}, not for this address`, resource);
    if (token.expiresAtMs <= at.getTime()) throw refusalOf("the access token has expired", resource);
    const isRevoked = revocations.has(token.grantId) || revocations.has(token.workspaceId);
    const identity = isRevoked ? undefined : await orUnavailable(grants.identityOf(accessToken, token));
    if (identity === undefined) throw refusalOf("the grant of the access token has ended", resource);
    return identity;
  }

  return { identityOf, tokenRequired, scopeRequired };
}

/** Waits for an answer of the database. Without it nobody is let in: a credential may have been revoked. */
async function orUnavailable<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (cause) {
    throw fail(
      "UNAVAILABLE",
      "UNAVAILABLE",
      "tokens cannot be checked at the moment; try again in a second",
      { retryAfterSeconds: 1, cause },
    );
  }
}

/** Refusals that tell clients where to get a token (RFC 9728): RFC 9728, 3.1 says where a path has its metadata. */
function createRefusals(resources: ResourceAddresses) {
  const challengeOf = (resource: Resource) => {
    const { origin, pathname } = new URL(resources[resource]);
    const path = pathname === "/" ? "" : pathname;
    return `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource${path}"`;
  };
  const challenges = { API: challengeOf("API"), MCP: challengeOf("MCP") };

  function refusalOf(message: string, resource: Resource, reason: Reason = "UNAUTHENTICATED"): CallError {
    return fail("UNAUTHENTICATED", reason, message, {
      headers: { "www-authenticate": challenges[resource] },
    });
  }

  return {
    refusalOf,
    tokenRequired: (resource: Resource) =>
      refusalOf("this call needs a token: send `Authorization: Bearer <token>`", resource),
    scopeRequired: (scope: string, kind: Credential["kind"], resource: Resource) =>
      fail("PERMISSION_DENIED", "INSUFFICIENT_SCOPE", `${nouns[kind]} lacks the scope ${scope}`, {
        metadata: { scope },
        headers: {
          "www-authenticate": `${challenges[resource]}, error="insufficient_scope", scope="${scope}"`,
        },
      }),
  };
}

const nouns: Readonly<Record<Credential["kind"], string>> = {
  SECRET: "the token",
  PUBLISHABLE: "the token",
  SESSION: "your role",
  GRANT: "the grant",
};

function identityWith(token: VerifiedToken, scope: string): Identity {
  const { workspaceId, tokenId, keyType, environment } = token;
  const sandbox = environment === "test";
  const caller = { workspaceId, memberId: undefined, tokenId, ...grantOf(scope), sandbox };
  return { caller: Object.freeze(caller), credential: { kind: keyType, id: tokenId } };
}
