import { isUuid, newId } from "../lib/ids.ts";
import { accessTokenLifeMaxMs, type SigningKeys } from "./signing-keys.ts";

/** How long access tokens live, unless their grant says otherwise, in milliseconds (behaviour 2.5). */
export const accessTokenLifeMs = 60 * 60 * 1000;

/** What an access token says (RFC 9068). Anybody who holds it can read this. */
export interface AccessTokenClaims {
  readonly grantId: string;
  readonly workspaceId: string;
  /** Undefined for an agent whose workspace nobody has claimed yet. */
  readonly memberId: string | undefined;
  readonly clientId: string;
  /** Public scope names, with spaces between them. */
  readonly scope: string;
  /** The address of the resource that the token is for. */
  readonly audience: string;
}

/** An access token whose signature and issuer are right. Audience, expiry and revocation are checked on every call. */
export interface VerifiedAccessToken extends AccessTokenClaims {
  readonly expiresAtMs: number;
}

/** Signs an access token, for an hour unless `expiresAt` is given. */
export type SignAccessToken = (claims: AccessTokenClaims, at: Date, expiresAt?: Date) => Promise<string>;

/** Gives undefined for every text that is no access token of this issuer. Rejects when the database is away. */
export type VerifyAccessToken = (accessToken: string) => Promise<VerifiedAccessToken | undefined>;

interface AccessTokensDeps {
  readonly keys: SigningKeys;
  /** Address of the authorization server. */
  readonly issuer: string;
}

// Loaded on first use, because a start does not need it.
const loadJose = () => import("jose");

const algorithm = "ES256";
const type = "at+jwt";

/** The first 40 characters of every access token: 30 bytes of its header, before the id of its key. */
const beginning = Buffer.from(`{"alg":"${algorithm}","typ":"${type}",`).toString("base64url");

/** Whether a token can only be an access token of a grant; that it was signed here is not yet known. */
export function isAccessToken(token: string): boolean {
  return token.startsWith(beginning);
}

export function createAccessTokenSigner({ keys, issuer }: AccessTokensDeps): SignAccessToken {
  return async (claims, at, expiresAt = new Date(at.getTime() + accessTokenLifeMs)) => {
    if (expiresAt.getTime() - at.getTime() > accessTokenLifeMaxMs)
      throw new Error("no key is kept for as long as this access token would live");
    const [{ id, privateKey }, { SignJWT }] = await Promise.all([keys.current(), loadJose()]);
    const { grantId, workspaceId, memberId, clientId, scope, audience } = claims;
    const payload = { client_id: clientId, grant_id: grantId, workspace_id: workspaceId, scope };
    return new SignJWT({ ...payload, member: memberId !== undefined })
      .setProtectedHeader({ alg: algorithm, typ: type, kid: id })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(memberId ?? grantId)
      .setJti(newId(at))
      .setIssuedAt(at)
      .setExpirationTime(expiresAt)
      .sign(privateKey);
  };
}

/** Makes the verifier; a check costs about 100 µs, so callers keep its results. */
export function createAccessTokenVerifier({ keys, issuer }: AccessTokensDeps): VerifyAccessToken {
  return async (accessToken) => {
    if (!isAccessToken(accessToken)) return undefined;
    const { errors, jwtVerify } = await loadJose();
    const keyOf = async ({ kid = "" }: { readonly kid?: string }) => {
      const key = await keys.publicKey(kid);
      if (key === undefined) throw new errors.JWKSNoMatchingKey();
      return key;
    };
    try {
      const { payload } = await jwtVerify(accessToken, keyOf, {
        algorithms: [algorithm],
        issuer,
        // Callers compare the expiry with the time of each call.
        currentDate: new Date(0),
        clockTolerance: Number.MAX_SAFE_INTEGER,
      });
      return tokenOf(payload);
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  };
}

function tokenOf(claims: Readonly<Record<string, unknown>>): VerifiedAccessToken | undefined {
  const { sub, aud, exp, scope, member } = claims;
  const { client_id: clientId, grant_id: grantId, workspace_id: workspaceId } = claims;
  if (!isId(grantId) || !isId(workspaceId) || !isId(sub)) return undefined;
  if (typeof clientId !== "string" || typeof aud !== "string" || typeof scope !== "string") return undefined;
  if (typeof exp !== "number") return undefined;
  const memberId = member === true ? sub : undefined;
  return { grantId, workspaceId, memberId, clientId, scope, audience: aud, expiresAtMs: exp * 1000 };
}

function isId(claim: unknown): claim is string {
  return typeof claim === "string" && isUuid(claim);
}
