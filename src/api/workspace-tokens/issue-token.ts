import { createHash } from "node:crypto";
import type { Db } from "../../db/open.ts";
import { newId } from "../../lib/ids.ts";
import { everyScope, scopeText } from "../../model/scope.ts";
import {
  defaultTokenName,
  type SignToken,
  type TokenEnvironment,
  type TokenKeyType,
} from "../../model/token.ts";
import { insertToken, type WorkspaceTokenRow } from "./queries.ts";

export interface TokenOrder {
  readonly workspaceId: string;
  readonly keyType: TokenKeyType;
  readonly environment: TokenEnvironment;
  /** Empty for the default name. */
  readonly name: string;
  /** Public names of scopes. An empty list means full access, except that publishable tokens never have scopes. */
  readonly scopes: readonly string[];
  /** The member who asks for the token. Undefined when the caller is no member. */
  readonly createdBy: string | undefined;
}

export interface IssuedToken {
  readonly token: WorkspaceTokenRow;
  /** Shown once. Only its hash is kept. */
  readonly accessToken: string;
}

/** Signs a token and keeps its record. */
export async function issueToken(
  { db, now, signToken }: { readonly db: Db; readonly now: () => Date; readonly signToken: SignToken },
  { workspaceId, keyType, environment, name, scopes, createdBy }: TokenOrder,
): Promise<IssuedToken> {
  const at = now();
  const id = newId(at);
  const scope = keyType === "PUBLISHABLE" ? "" : scopes.length === 0 ? everyScope : scopeText(scopes);
  const accessToken = await signToken({
    tokenId: id,
    workspaceId,
    keyType,
    environment,
    scope,
    issuedAt: at,
  });
  const token = await insertToken(db, {
    workspace_id: workspaceId,
    id,
    name: name === "" ? defaultTokenName : name,
    key_type: keyType,
    scope,
    token_hash: createHash("sha256").update(accessToken).digest(),
    created_by: createdBy ?? null,
    created_at: at,
    updated_at: at,
  });
  return { token, accessToken };
}
