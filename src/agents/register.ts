import type { Db } from "../db/open.ts";
import { newId } from "../lib/ids.ts";
import { takeRegistrationTry, takeStrangersTry } from "../people/sign-in-tries.ts";
import { attemptEnd } from "./attempts.ts";
import type { ClaimTokens } from "./claim-tokens.ts";
import type { AgentGrants } from "./grants.ts";
import { pollSeconds } from "./poll-claim.ts";
import { preClaimScope } from "./scopes.ts";

/** How long a registration waits for somebody who claims its workspace, in milliseconds (behaviour 8.1). */
const registrationLifeMs = 7 * 24 * 60 * 60 * 1000;

/**
 * How many agents one network may register in an hour. All together may register 50 times as many: each makes a workspace for
 * 30 days, and every process remembers for a year that its token ended.
 */
const registrationsMax = 10;

export interface RegisterDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly tokens: ClaimTokens;
  readonly grants: AgentGrants;
  /** Makes a workspace without members in the caller's transaction, and returns its id. */
  readonly createWorkspace: (tx: Db, name: string, at: Date) => Promise<string>;
}

export interface RegistrationOrder {
  /** The address of the person who is to claim the workspace, in the form in which addresses are compared. */
  readonly email: string;
  /** How the agent calls itself; may be empty. */
  readonly clientName: string;
  /** What the agent may do once the workspace is claimed. */
  readonly scope: string;
  /** The address that the agent calls from. */
  readonly address: string;
}

/** A claim link, as the agent is told of it. */
export interface ShownAttempt {
  readonly token: string;
  readonly userCode: string;
  readonly expiresAt: Date;
  /** How many seconds the agent waits between two polls. */
  readonly interval: number;
}

export interface Registration {
  readonly registrationId: string;
  readonly claimToken: string;
  readonly expiresAt: Date;
  readonly attempt: ShownAttempt;
  readonly accessToken: string;
  /** What the token may do. */
  readonly scope: string;
}

/**
 * Makes a workspace for an agent, all or nothing. Whether the address has an account already makes no difference here.
 * Returns the seconds to wait when the address or the network has had its registrations.
 */
export async function registerAgent(
  { db, now, tokens, grants, createWorkspace }: RegisterDeps,
  { email, clientName, scope, address }: RegistrationOrder,
): Promise<Registration | { readonly waitSeconds: number }> {
  const at = now();
  const taken = await takeRegistrationTry(db, { email, address }, at);
  if (!taken.isAllowed) return { waitSeconds: taken.seconds };
  const order = { name: "agent registration", address, max: registrationsMax };
  const waitSeconds = await takeStrangersTry(db, order, at);
  if (waitSeconds > 0) return { waitSeconds };
  const [registrationId, attemptId] = [newId(at), newId(at)];
  const expiresAt = new Date(at.getTime() + registrationLifeMs);
  const { workspaceId, grantId } = await db.transaction().execute(async (tx) => {
    const workspaceId = await createWorkspace(tx, clientName || email, at);
    const agent = { workspaceId, clientId: registrationId, clientName, scope: preClaimScope };
    const grantId = await grants.begin(tx, agent, at);
    await tx
      .insertInto("agent_registrations")
      .values({
        ...{ workspace_id: workspaceId, id: registrationId, email, client_name: clientName, scope },
        ...{ grant_id: grantId, attempt_id: attemptId, expires_at: expiresAt, created_at: at },
      })
      .execute();
    return { workspaceId, grantId };
  });
  return {
    registrationId,
    claimToken: tokens.claimToken({ workspaceId, registrationId }),
    expiresAt,
    attempt: shownAttempt(tokens, { workspaceId, attemptId, expiresAt }),
    accessToken: await grants.firstToken({ workspaceId, grantId }, at),
    scope: preClaimScope,
  };
}

/** What the agent shows its person of a link; `expiresAt` is the end of the registration. */
export function shownAttempt(
  tokens: ClaimTokens,
  attempt: { readonly workspaceId: string; readonly attemptId: string; readonly expiresAt: Date },
): ShownAttempt {
  return {
    token: tokens.attemptToken(attempt),
    userCode: tokens.userCode(attempt.attemptId),
    expiresAt: attemptEnd(attempt.attemptId, attempt.expiresAt),
    interval: pollSeconds,
  };
}
