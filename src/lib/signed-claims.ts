import { createSecretKey } from "node:crypto";
import type { SignJWT } from "jose";

/** What a signed text says. Its reader still has to check every claim. */
export type Claims = Readonly<Record<string, unknown>>;

export interface ClaimSigner {
  /** Signs claims as a JWT (RFC 7519); `complete` adds the registered ones, such as the expiry. */
  sign(claims: Record<string, unknown>, complete: (jwt: SignJWT) => SignJWT): Promise<string>;
}

// Loaded on first use, because a start does not need it.
const loadJose = () => import("jose");

const algorithm = "HS256";

/** RFC 7515, section 7.1: base64url without padding. jose would tolerate padding. */
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The first part of every JWT of a type: texts of other types begin differently, or were not signed here. */
export function headerOf(type: string): string {
  return Buffer.from(JSON.stringify({ alg: algorithm, typ: type })).toString("base64url");
}

export function createClaimSigner(key: Uint8Array, type = "JWT"): ClaimSigner {
  const secret = createSecretKey(key);
  return {
    async sign(claims, complete) {
      const { SignJWT } = await loadJose();
      return complete(new SignJWT(claims).setProtectedHeader({ alg: algorithm, typ: type })).sign(secret);
    },
  };
}

/**
 * Makes the reader of signed claims with an id and a time of issue. It gives undefined for every text that this key did
 * not sign. It does not look at the expiry, because callers keep results and compare them with the time of each call.
 */
export function createClaimReader(key: Uint8Array): (jwt: string) => Promise<Claims | undefined> {
  const secret = createSecretKey(key);
  return async (jwt) => {
    if (!compactForm.test(jwt)) return undefined;
    const { errors, jwtVerify } = await loadJose();
    try {
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
  };
}
