import { createHash } from "node:crypto";
import type { Insertable } from "kysely";
import type { WorkspaceTokens } from "../../../gen/database.ts";
import { newId } from "../../lib/ids.ts";
import { defaultTokenName, type SignToken, type TokenClaims } from "../../model/token.ts";

export interface NewToken extends Pick<TokenClaims, "workspaceId" | "keyType" | "environment" | "scope"> {
  /** Empty for the default name. */
  readonly name: string;
  /** When the token ends by itself. Only tokens of sandboxes do. */
  readonly expiresAt: Date | undefined;
  /** The member who asks for the token. Undefined when the caller is no member. */
  readonly createdBy: string | undefined;
}

/** Signs a token. Its row holds only a hash of the secret. */
export async function signNewToken(
  signToken: SignToken,
  { name, createdBy, expiresAt, ...claims }: NewToken,
  at: Date,
): Promise<{ readonly accessToken: string; readonly row: Insertable<WorkspaceTokens> }> {
  const tokenId = newId(at);
  const accessToken = await signToken({ ...claims, tokenId, issuedAt: at, ...(expiresAt && { expiresAt }) });
  const row = {
    workspace_id: claims.workspaceId,
    id: tokenId,
    name: name === "" ? defaultTokenName : name,
    key_type: claims.keyType,
    scope: claims.scope,
    token_hash: createHash("sha256").update(accessToken).digest(),
    created_by: createdBy ?? null,
    created_at: at,
    updated_at: at,
  };
  return { accessToken, row };
}
