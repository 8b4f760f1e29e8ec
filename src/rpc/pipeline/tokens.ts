import { createSecretKey } from "node:crypto";
import { isUuid } from "../../lib/ids.ts";
import {
  type SignToken,
  sandboxPrefix,
  type TokenEnvironment,
  type TokenKeyType,
} from "../../model/token.ts";

/** A token whose signature holds. Whether it has expired or was revoked is asked on every call. */
export interface VerifiedToken {
  readonly tokenId: string;
  readonly workspaceId: string;
  readonly keyType: TokenKeyType;
  readonly environment: TokenEnvironment;
  /** What it was granted at its creation; scopes can change later. */
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

// Not part of a start, which nobody's token waits for.
const loadJose = () => import("jose");

const algorithm = "HS256";

/** RFC 7515, section 7.1: base64url without padding, which jose would ignore. */
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const keyTypeClaims = { SECRET: "secret", PUBLISHABLE: "publishable" } as const;

/** Makes the signer of workspace tokens; the key is the one of purpose `access-tokens`. */
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

/** Makes the verifier of workspace tokens; a check costs about 90 µs, so its answers are worth keeping. */
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
      // Expiry is not jose's business here: a kept answer must look at the time of its own call.
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
  // Whatever it claims: publishable tokens hold no scopes.
  const held = keyType === "PUBLISHABLE" ? "" : scope;
  const expiresAtMs = typeof exp === "number" ? exp * 1000 : Number.POSITIVE_INFINITY;
  return { tokenId: jti, workspaceId, keyType, environment, scope: held, expiresAtMs };
}
