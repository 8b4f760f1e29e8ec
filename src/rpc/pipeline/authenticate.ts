import { type CallError, fail, type Reason } from "../../lib/errors.ts";
import { lruCache } from "../../lib/lru-cache.ts";
import { ownText } from "../../lib/own-text.ts";
import type { Caller } from "../handlers.ts";
import { grantOf } from "./grants.ts";
import type { Revocations } from "./revocations.ts";
import type { TokenUse } from "./token-use.ts";
import type { VerifiedToken, VerifyToken } from "./tokens.ts";

/** The workspace and the caller that a token speaks for. */
export interface Identity {
  readonly caller: Caller;
  readonly token: VerifiedToken;
}

export interface AuthenticateDeps {
  readonly verifyToken: VerifyToken;
  readonly revocations: Revocations;
  readonly tokenUse: TokenUse;
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
  scopeRequired(scope: string): CallError;
}

interface KnownIdentity {
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
    const entry = { identity: identityWith(token, scope), scope, notedAtMs: Number.NEGATIVE_INFINITY };
    known.set(ownText(accessToken), entry);
    return entry;
  }

  async function identityOf(authorization: string | undefined, at: Date): Promise<Identity | undefined> {
    if (authorization === undefined) return undefined;
    const accessToken = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (accessToken === undefined) throw refusalOf("send the token as `Authorization: Bearer <token>`");
    const entry = known.get(accessToken) ?? (await verified(accessToken));
    const { token } = entry.identity;
    if (!revocations.isFresh()) await refreshOrFail(revocations);
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

  return { identityOf, tokenRequired, scopeRequired };
}

async function refreshOrFail(revocations: Pick<Revocations, "refresh">): Promise<void> {
  try {
    await revocations.refresh();
  } catch (cause) {
    // A stale list may miss a revocation, so no token is accepted on its word.
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
    scopeRequired: (scope: string) =>
      fail("PERMISSION_DENIED", "INSUFFICIENT_SCOPE", `the token lacks the scope ${scope}`, {
        metadata: { scope },
        headers: { "www-authenticate": `${challenge}, error="insufficient_scope", scope="${scope}"` },
      }),
  };
}

function identityWith(token: VerifiedToken, scope: string): Identity {
  const { workspaceId, tokenId, environment } = token;
  const sandbox = environment === "test";
  const caller = { workspaceId, memberId: undefined, tokenId, ...grantOf(scope), sandbox };
  return { caller: Object.freeze(caller), token };
}
