import type { Db } from "../db/open.ts";
import { type AccessTokenClaims, accessTokenLifeMs, type SignAccessToken } from "./access-tokens.ts";
import { type GrantKey, type GrantRow, noteAccessToken, takeTurn } from "./grants.ts";
import type { Handles } from "./handles.ts";

/** The answer of the token endpoint (RFC 6749, 5.1). */
export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: "Bearer";
  /** Seconds. */
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly scope: string;
}

export interface IssueTokensDeps {
  readonly db: Db;
  readonly signAccessToken: SignAccessToken;
  readonly handles: Handles;
  readonly now: () => Date;
}

type Wanted = Pick<AccessTokenClaims, "scope" | "audience">;

/** Issues tokens of grants. */
export interface IssueTokens {
  /** An access token alone, until `expiresAt`, or for an hour. */
  accessToken(grant: GrantRow, wanted: Wanted, expiresAt?: Date): Promise<TokenAnswer>;
  /**
   * An access token and the next refresh token, in exchange for the refresh token with this number; 0 stands for a code, or
   * for a grant that has had no refresh token. Undefined when the number was used before, or the grant has ended.
   */
  bothTokens(
    key: GrantKey & { readonly number: number },
    wantedOf: (grant: GrantRow) => Wanted,
  ): Promise<TokenAnswer | undefined>;
}

export function createTokenIssuer({ db, signAccessToken, handles, now }: IssueTokensDeps): IssueTokens {
  async function signed(grant: GrantRow, { scope, audience }: Wanted, at: Date, expiresAt: Date) {
    const { workspace_id: workspaceId, id: grantId, client_id: clientId, member_id: memberId } = grant;
    const claims = { workspaceId, grantId, clientId, memberId: memberId ?? undefined, scope, audience };
    return {
      access_token: await signAccessToken(claims, at, expiresAt),
      token_type: "Bearer",
      expires_in: Math.floor((expiresAt.getTime() - at.getTime()) / 1000),
      scope,
    } as const;
  }

  return {
    async accessToken(grant, wanted, expiresAt) {
      const at = now();
      const until = expiresAt ?? new Date(at.getTime() + accessTokenLifeMs);
      await noteAccessToken(db, { workspaceId: grant.workspace_id, grantId: grant.id }, { at, until });
      return signed(grant, wanted, at, until);
    },
    async bothTokens({ workspaceId, grantId, number }, wantedOf) {
      const at = now();
      const until = new Date(at.getTime() + accessTokenLifeMs);
      const grant = await takeTurn(db, { workspaceId, grantId }, { number, at, tokensUntil: until });
      if (grant === undefined) return undefined;
      const answer = await signed(grant, wantedOf(grant), at, until);
      const next = { workspaceId, grantId, number: number + 1 };
      return { ...answer, refresh_token: handles.write(next) };
    },
  };
}
