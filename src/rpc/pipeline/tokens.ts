import { createSecretKey } from "node:crypto";
import { isUuid } from "../../lib/ids.ts";
import {
  type SignToken,
  sandboxPrefix,
  type TokenEnvironment,
  type TokenKeyType,
} from "../../model/token.ts";

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

// Loaded on first use, because a start does not need it.
const loadJose = () => import("jose");

const algorithm = "HS256";

/** RFC 7515, section 7.1: base64url without padding. jose would tolerate padding. */
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const keyTypeClaims = { SECRET: "secret", PUBLISHABLE: "publishable" } as const;

/** Makes the signer of workspace tokens; `key` is derived for the purpose `access-tokens`. */
export function createTokenSigner(key: Uint8Array): SignToken {
  const secret = createSecretKey(key);
  return async ({ tokenId, workspaceId, keyType, environment, scope, issuedAt, expiresAt }) => {
    const { SignJWT } = await loadJose();
    const jwt = new SignJWT({
      workspace_id: workspaceId,
      key_type: keyTypeClaims[keyType],
      scope,
      environment,
    })
      .setProtectedHeader({ alg: algorithm, typ: "JWT" })
      .setJti(tokenId)
      .setIssuedAt(issuedAt);
    if (expiresAt !== undefined) jwt.setExpirationTime(expiresAt);
    return `${environment === "test" ? sandboxPrefix : ""}${await jwt.sign(secret)}`;
  };
}

/** Makes the verifier of workspace tokens; a check costs about 90 µs, so callers cache its results. */
export function createTokenVerifier(key: Uint8Array): VerifyToken {
  const secret = createSecretKey(key);
  return async (accessToken) => {
    const prefixed = accessToken.startsWith(sandboxPrefix);
    const claims = await verifiedClaims(prefixed ? accessToken.slice(sandboxPrefix.length) : accessToken);
    const token = claims && tokenOf(claims);
    if (token === undefined) return { kind: "invalid" };
    if (prefixed !== (token.environment === "test")) return { kind: "environment-mismatch" };
    return { kind: "verified", token };
  };

  async function verifiedClaims(jwt: string): Promise<Record<string, unknown> | undefined> {
    if (!compactForm.test(jwt)) return undefined;
    const { errors, jwtVerify } = await loadJose();
    try {
      // jose does not check the expiry, because a cached result must be compared with the time of its own call.
      const { payload } = await jwtVerify(jwt, secret, {
        algorithms: [algorithm],
        requiredClaims: ["iat", "jti"],
        currentDate: new Date(0),
        clockTolerance: Number.MAX_SAFE_INTEGER,
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }
}

function tokenOf(claims: Record<string, unknown>): VerifiedToken | undefined {
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
