import type { MemberRole } from "../../../../gen/database.ts";
import { lruCache } from "../../../lib/lru-cache.ts";
import { ownText } from "../../../lib/own-text.ts";
import type { Session, VerifySession } from "../../../people/sessions.ts";
import { isOpen, type Standings } from "../../../people/standing.ts";
import type { Identity } from "./authenticate.ts";
import { roleGrants } from "./grants.ts";

/** Tells which member a session belongs to, and what the member may do now. */
export interface SessionIdentities {
  /** The session that a text stands for; undefined when it was not signed here. */
  verify(accessToken: string): Promise<Session | undefined>;
  /** The caller behind a session; undefined when the session has ended. Rejects when the database is away. */
  identityOf(accessToken: string, session: Session): Promise<Identity | undefined>;
}

export interface SessionIdentitiesDeps {
  readonly verifySession: VerifySession;
  readonly standings: Pick<Standings, "of">;
}

interface KnownSession {
  readonly session: Session;
  role: MemberRole | undefined;
  identity: Identity | undefined;
}

/** Verifying costs about 90 µs, so verified sessions are kept. */
const knownMax = 10_000;

/** Keeps verified sessions; the role, the epoch and a suspension of the member count anew after 5 s at most. */
export function createSessionIdentities({
  verifySession,
  standings,
}: SessionIdentitiesDeps): SessionIdentities {
  const known = lruCache<KnownSession>(knownMax);

  return {
    async verify(accessToken) {
      const entry = known.get(accessToken);
      if (entry !== undefined) return entry.session;
      const session = await verifySession(accessToken);
      if (session !== undefined)
        known.set(ownText(accessToken), { session, role: undefined, identity: undefined });
      return session;
    },
    async identityOf(accessToken, session) {
      const standing = await standings.of(session);
      if (!isOpen(session, standing)) return undefined;
      const entry = known.peek(accessToken);
      if (entry?.identity !== undefined && entry.role === standing.role) return entry.identity;
      const identity = identityWith(session, standing.role);
      if (entry !== undefined) Object.assign(entry, { role: standing.role, identity });
      return identity;
    },
  };
}

function identityWith({ workspaceId, memberId, sessionId, epoch }: Session, role: MemberRole): Identity {
  const member = {
    workspaceId,
    memberId,
    tokenId: undefined,
    sessionId,
    sessionEpoch: epoch,
    sandbox: false,
  };
  return {
    caller: Object.freeze({ ...member, ...roleGrants[role] }),
    credential: { kind: "SESSION", id: sessionId },
  };
}
