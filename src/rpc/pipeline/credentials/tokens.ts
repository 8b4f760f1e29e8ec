import { isUuid } from "../../../lib/ids.ts";
import { type Claims, createClaimReader, createClaimSigner } from "../../../lib/signed-claims.ts";
import {
  type SignToken,
  sandboxPrefix,
  type TokenEnvironment,
  type TokenKeyType,
} from "../../../model/token.ts";

/** A token whose signature is valid. Expiry and revocation are checked on every call. */
export interface VerifiedToken {
  readonly tokenId: string;
  readonly workspaceId: string;
  readonly keyType: TokenKeyType;
  readonly environment: TokenEnvironment;
  /** The scopes granted when the token was made; they can change later. */
  readonly scope: string;
  /** Milliseconds of the Unix epoch; infinity for tokens that never expire. */
  readonly expiresAtMs: number;
}

export type Verification =
  | { readonly kind: "verified"; readonly token: VerifiedToken }
  | { readonly kind: "invalid" }
  | { readonly kind: "environment-mismatch" };

/** Checks form, signature and claims of a token. */
export type VerifyToken = (accessToken: string) => Promise<Verification>;

const keyTypeClaims = { SECRET: "secret", PUBLISHABLE: "publishable" } as const;

/** Makes the signer of workspace tokens; `key` is derived for the purpose `access-tokens`. */
export function createTokenSigner(key: Uint8Array): SignToken {
  const { sign } = createClaimSigner(key);
  return async ({ tokenId, workspaceId, keyType, environment, scope, issuedAt, expiresAt }) => {
    const claims = { workspace_id: workspaceId, key_type: keyTypeClaims[keyType], scope, environment };
    const jwt = await sign(claims, (unsigned) => {
      const issued = unsigned.setJti(tokenId).setIssuedAt(issuedAt);
      return expiresAt === undefined ? issued : issued.setExpirationTime(expiresAt);
    });
    return `${environment === "test" ? sandboxPrefix : ""}${jwt}`;
  };
}

/** Makes the verifier of workspace tokens; a check costs about 90 µs, so callers cache its results. */
export function createTokenVerifier(key: Uint8Array): VerifyToken {
  const readClaims = createClaimReader(key);
  return async (accessToken) => {
    const prefixed = accessToken.startsWith(sandboxPrefix);
    const claims = await readClaims(prefixed ? accessToken.slice(sandboxPrefix.length) : accessToken);
    const token = claims && tokenOf(claims);
    if (token === undefined) return { kind: "invalid" };
    if (prefixed !== (token.environment === "test")) return { kind: "environment-mismatch" };
    return { kind: "verified", token };
  };
}

function tokenOf(claims: Claims): VerifiedToken | undefined {
  const { jti, workspace_id: workspaceId, key_type: keyTypeClaim, scope, environment, exp } = claims;
  if (typeof jti !== "string" || !isUuid(jti)) return undefined;
  if (typeof workspaceId !== "string" || !isUuid(workspaceId)) return undefined;
  const keyType =
    keyTypeClaim === "secret" ? "SECRET" : keyTypeClaim === "publishable" ? "PUBLISHABLE" : undefined;
  if (keyType === undefined || typeof scope !== "string") return undefined;
  if (environment !== "live" && environment !== "test") return undefined;
  // Publishable tokens hold no scopes, whatever they claim.
  const held = keyType === "PUBLISHABLE" ? "" : scope;
  const expiresAtMs = typeof exp === "number" ? exp * 1000 : Number.POSITIVE_INFINITY;
  return { tokenId: jti, workspaceId, keyType, environment, scope: held, expiresAtMs };
}
