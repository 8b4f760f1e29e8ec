import type { MemberRole } from "../../../../gen/database.ts";
import { lruCache } from "../../../lib/lru-cache.ts";
import { ownText } from "../../../lib/own-text.ts";
import type { VerifiedAccessToken, VerifyAccessToken } from "../../../oauth/access-tokens.ts";
import type { Standings } from "../../../people/standing.ts";
import type { Identity } from "./authenticate.ts";
import { grantOf, roleGrants } from "./grants.ts";

/** Tells which grant an access token belongs to, and what the grant allows now. */
export interface GrantIdentities {
  /** What an access token says; undefined when it was not signed here. Rejects when the database is away. */
  verify(accessToken: string): Promise<VerifiedAccessToken | undefined>;
  /** The caller behind an access token; undefined when its member is suspended or gone. Rejects when the database is away. */
  identityOf(accessToken: string, token: VerifiedAccessToken): Promise<Identity | undefined>;
}

export interface GrantIdentitiesDeps {
  readonly verifyAccessToken: VerifyAccessToken;
  readonly standings: Pick<Standings, "of">;
}

interface KnownGrant {
  readonly token: VerifiedAccessToken;
  role: MemberRole | undefined;
  identity: Identity | undefined;
}

/** Verifying costs about 100 µs, so verified tokens are kept. */
const knownMax = 10_000;

/** Keeps verified access tokens; the role and a suspension of the member count anew after 5 s at most. */
export function createGrantIdentities({
  verifyAccessToken,
  standings,
}: GrantIdentitiesDeps): GrantIdentities {
  const known = lruCache<KnownGrant>(knownMax);

  return {
    async verify(accessToken) {
      const entry = known.get(accessToken);
      if (entry !== undefined) return entry.token;
      const token = await verifyAccessToken(accessToken);
      if (token !== undefined)
        known.set(ownText(accessToken), { token, role: undefined, identity: undefined });
      return token;
    },
    async identityOf(accessToken, token) {
      const { workspaceId, memberId } = token;
      const standing = memberId === undefined ? undefined : await standings.of({ workspaceId, memberId });
      if (memberId !== undefined && (standing === undefined || standing.isSuspended)) return undefined;
      const entry = known.peek(accessToken);
      if (entry?.identity !== undefined && entry.role === standing?.role) return entry.identity;
      const identity = identityWith(token, standing?.role);
      if (entry !== undefined) Object.assign(entry, { role: standing?.role, identity });
      return identity;
    },
  };
}

/** A grant allows what it was granted, as far as the role of its member allows it now. */
function identityWith(token: VerifiedAccessToken, role: MemberRole | undefined): Identity {
  const { workspaceId, memberId, grantId } = token;
  const held = role === undefined ? undefined : roleGrants[role].scopes;
  const scopes = new Set([...grantOf(token.scope).scopes].filter((name) => held?.has(name) ?? true));
  // Whoever consents chooses scopes, and full access is none of them.
  const caller = {
    workspaceId,
    memberId,
    tokenId: undefined,
    grantId,
    scopes,
    fullAccess: false,
    sandbox: false,
  };
  return { caller: Object.freeze(caller), credential: { kind: "GRANT", id: grantId } };
}
