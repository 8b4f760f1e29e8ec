import { isUuid, newId } from "../lib/ids.ts";
import { createClaimReader, createClaimSigner, headerOf } from "../lib/signed-claims.ts";

/** How long a session lives, in milliseconds (behaviour 2.1). */
export const sessionLifeMs = 30 * 24 * 60 * 60 * 1000;

/** A session whose signature is valid. The member's standing, its end and its expiry are checked on every call. */
export interface Session {
  readonly sessionId: string;
  readonly workspaceId: string;
  readonly memberId: string;
  /** The member's epoch at sign-in; a greater one has ended the session. */
  readonly epoch: number;
  readonly expiresAtMs: number;
}

export interface SignedSession extends Session {
  /** The text that callers send as `Authorization: Bearer`. */
  readonly accessToken: string;
}

/** Starts a session of a member. */
export type SignSession = (
  member: Pick<Session, "workspaceId" | "memberId" | "epoch">,
  at: Date,
) => Promise<SignedSession>;

export type VerifySession = (accessToken: string) => Promise<Session | undefined>;

const type = "session+jwt";
const header = `${headerOf(type)}.`;

/** Whether a token can only be a session's; that it was signed here is not yet known. */
export function isSessionToken(accessToken: string): boolean {
  return accessToken.startsWith(header);
}

/** Makes the signer of sessions; `key` is derived for the purpose `member-sessions`. */
export function createSessionSigner(key: Uint8Array): SignSession {
  const { sign } = createClaimSigner(key, type);
  return async ({ workspaceId, memberId, epoch }, at) => {
    const sessionId = newId(at);
    // JWT counts in whole seconds.
    const expiresAt = Math.floor((at.getTime() + sessionLifeMs) / 1000);
    const accessToken = await sign({ workspace_id: workspaceId, epoch, environment: "live" }, (jwt) =>
      jwt.setJti(sessionId).setSubject(memberId).setIssuedAt(at).setExpirationTime(expiresAt),
    );
    return { sessionId, workspaceId, memberId, epoch, expiresAtMs: expiresAt * 1000, accessToken };
  };
}

/** Makes the verifier of sessions; a check costs about 90 µs, so callers keep its results. */
export function createSessionVerifier(key: Uint8Array): VerifySession {
  const readClaims = createClaimReader(key);
  return async (accessToken) => {
    const claims = isSessionToken(accessToken) ? await readClaims(accessToken) : undefined;
    return claims && sessionOf(claims);
  };
}

function sessionOf(claims: Readonly<Record<string, unknown>>): Session | undefined {
  const { jti: sessionId, sub: memberId, workspace_id: workspaceId, epoch, environment, exp } = claims;
  if (typeof sessionId !== "string" || !isUuid(sessionId)) return undefined;
  if (typeof memberId !== "string" || !isUuid(memberId)) return undefined;
  if (typeof workspaceId !== "string" || !isUuid(workspaceId)) return undefined;
  // Sandboxes have no members.
  if (typeof epoch !== "number" || typeof exp !== "number" || environment !== "live") return undefined;
  return { sessionId, workspaceId, memberId, epoch, expiresAtMs: exp * 1000 };
}
