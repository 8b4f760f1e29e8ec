import { type CallError, fail, type Reason } from "../../../lib/errors.ts";
import { lruCache } from "../../../lib/lru-cache.ts";
import { ownText } from "../../../lib/own-text.ts";
import type { TokenKeyType } from "../../../model/token.ts";
import { isSessionToken } from "../../../people/sessions.ts";
import type { Caller } from "../../handlers.ts";
import { grantOf } from "./grants.ts";
import type { Revocations } from "./revocations.ts";
import type { SessionIdentities } from "./session-identities.ts";
import type { TokenUse } from "./token-use.ts";
import type { VerifiedToken, VerifyToken } from "./tokens.ts";

/** What a caller proves itself with: a workspace token, or the session of a member, which stands for a token. */
export interface Credential {
  readonly kind: TokenKeyType | "SESSION";
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
  readonly baseUrl: string;
}

export interface Authenticate {
  /**
   * Returns the caller behind an `Authorization` header, undefined without one. Throws UNAUTHENTICATED for a bad token.
   */
  identityOf(authorization: string | undefined, at: Date): Promise<Identity | undefined>;
  /** The refusal of a call without a token. */
  tokenRequired(): CallError;
  /** The refusal of a caller without a scope. */
  scopeRequired(scope: string, kind: Credential["kind"]): CallError;
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
  baseUrl,
}: AuthenticateDeps): Authenticate {
  const known = lruCache<KnownIdentity>(knownMax);
  const { refusalOf, tokenRequired, scopeRequired } = createRefusals(baseUrl);

  async function verified(accessToken: string): Promise<KnownIdentity> {
    const verification = await verifyToken(accessToken);
    if (verification.kind === "environment-mismatch") {
      throw refusalOf(
        "a sandbox token begins with svc_test_ and a live one does not; send the token as it was issued",
        "TOKEN_ENVIRONMENT_MISMATCH",
      );
    }
    if (verification.kind === "invalid") throw refusalOf("the token is malformed, or was not issued here");
    const { token } = verification;
    const { scope } = token;
    const notedAtMs = Number.NEGATIVE_INFINITY;
    const entry = { token, identity: identityWith(token, scope), scope, notedAtMs };
    known.set(ownText(accessToken), entry);
    return entry;
  }

  async function identityOf(authorization: string | undefined, at: Date): Promise<Identity | undefined> {
    if (authorization === undefined) return undefined;
    const accessToken = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (accessToken === undefined) throw refusalOf("send the token as `Authorization: Bearer <token>`");
    if (!revocations.isFresh()) await orUnavailable(revocations.refresh());
    if (isSessionToken(accessToken)) return sessionIdentity(accessToken, at);
    const entry = known.get(accessToken) ?? (await verified(accessToken));
    const { token } = entry;
    if (revocations.has(token.tokenId) || revocations.has(token.workspaceId))
      throw refusalOf("the token was revoked");
    if (token.expiresAtMs <= at.getTime()) throw refusalOf("the token has expired");
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
    if (session === undefined) throw refusalOf("the session is malformed, or did not begin here");
    if (session.expiresAtMs <= at.getTime()) throw refusalOf("the session has expired; sign in again");
    const identity = revocations.has(session.workspaceId)
      ? undefined
      : await orUnavailable(sessions.identityOf(accessToken, session));
    if (identity === undefined) throw refusalOf("the session has ended; sign in again");
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

/** Refusals that tell clients where to get a token (RFC 9728). */
function createRefusals(baseUrl: string) {
  const challenge = `Bearer resource_metadata="${baseUrl}/.well-known/oauth-protected-resource"`;

  function refusalOf(message: string, reason: Reason = "UNAUTHENTICATED"): CallError {
    return fail("UNAUTHENTICATED", reason, message, { headers: { "www-authenticate": challenge } });
  }

  return {
    refusalOf,
    tokenRequired: () => refusalOf("this call needs a token: send `Authorization: Bearer <token>`"),
    scopeRequired: (scope: string, kind: Credential["kind"]) =>
      fail("PERMISSION_DENIED", "INSUFFICIENT_SCOPE", `${nouns[kind]} lacks the scope ${scope}`, {
        metadata: { scope },
        headers: { "www-authenticate": `${challenge}, error="insufficient_scope", scope="${scope}"` },
      }),
  };
}

const nouns: Readonly<Record<Credential["kind"], string>> = {
  SECRET: "the token",
  PUBLISHABLE: "the token",
  SESSION: "your role",
};

function identityWith(token: VerifiedToken, scope: string): Identity {
  const { workspaceId, tokenId, keyType, environment } = token;
  const sandbox = environment === "test";
  const caller = { workspaceId, memberId: undefined, tokenId, ...grantOf(scope), sandbox };
  return { caller: Object.freeze(caller), credential: { kind: keyType, id: tokenId } };
}
