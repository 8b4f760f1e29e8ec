import type { Db } from "../../db/open.ts";
import { everyScope, scopeText } from "../../model/scope.ts";
import type { SignToken, TokenEnvironment, TokenKeyType } from "../../model/token.ts";
import { signNewToken } from "../resources/new-token.ts";
import type { WorkspaceTokenRow } from "../resources/workspace-token.ts";
import { findExpiry, insertToken } from "./queries.ts";

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

/** Signs a token and keeps its record. A token of a sandbox ends with the sandbox. */
export async function issueToken(
  { db, now, signToken }: { readonly db: Db; readonly now: () => Date; readonly signToken: SignToken },
  { scopes, ...order }: TokenOrder,
): Promise<IssuedToken> {
  const { keyType, workspaceId, environment } = order;
  const scope = keyType === "PUBLISHABLE" ? "" : scopes.length === 0 ? everyScope : scopeText(scopes);
  const expiresAt = environment === "test" ? await findExpiry(db, workspaceId) : undefined;
  const { accessToken, row } = await signNewToken(signToken, { ...order, scope, expiresAt }, now());
  return { token: await insertToken(db, row), accessToken };
}
