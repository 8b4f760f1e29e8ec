import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { attemptEnd, wrongCodesMax } from "./attempts.ts";
import type { ClaimTokens } from "./claim-tokens.ts";
import type { AgentGrants, AgentTokens } from "./grants.ts";

/** How many seconds an agent waits between two polls at first (behaviour 8.1). */
export const pollSeconds = 5;

/** Each poll that comes too early lengthens the wait by as much (RFC 8628, 3.5), up to this. */
const pollSecondsMax = 60;

export interface PollDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly tokens: ClaimTokens;
  readonly grants: Pick<AgentGrants, "issue">;
}

/** Why an agent gets no token now, by the names of RFC 6749 and RFC 8628. */
export interface PollRefusal {
  readonly error: "invalid_grant" | "authorization_pending" | "slow_down" | "expired_token";
  readonly description: string;
}

interface Polled {
  readonly id: string;
  readonly attempt_id: string;
  readonly wrong_codes: number;
  readonly expires_at: Date;
  readonly scope: string;
  readonly grant_id: string;
  readonly claimed_by: string | null;
  readonly is_too_early: boolean;
  readonly is_granted: boolean;
  readonly is_first: boolean;
}

/** Gives the agent its wider token, once, when its workspace is claimed. */
export async function pollClaim(
  { db, now, tokens, grants }: PollDeps,
  { claimToken, resource }: { readonly claimToken: string; readonly resource: string | undefined },
): Promise<AgentTokens | PollRefusal> {
  const named = tokens.readClaimToken(claimToken);
  const at = now();
  const polled = named && (await poll(db, named, at));
  if (named === undefined || polled === undefined)
    return refusal("invalid_grant", "claim_token is none of this service, or its registration is gone");
  const { workspaceId, registrationId } = named;
  if (polled.is_granted)
    return refusal("invalid_grant", "the tokens were given already; use the refresh token");
  if (!polled.is_first) return waiting(polled, at);
  try {
    return await grants.issue(
      {
        ...{ workspaceId, grantId: polled.grant_id, clientId: registrationId },
        ...{ memberId: polled.claimed_by ?? "", scope: polled.scope, at },
      },
      resource,
    );
  } catch (error) {
    await db
      .updateTable("agent_registrations")
      .set({ granted_at: null })
      .where("workspace_id", "=", workspaceId)
      .where("granted_at", "=", at)
      .execute();
    throw error;
  }
}

function waiting(polled: Polled, at: Date): PollRefusal {
  if (polled.expires_at <= at)
    return refusal("expired_token", "nobody claimed the workspace in time; register again");
  if (polled.is_too_early) return refusal("slow_down", "wait 5 seconds longer between polls from now on");
  const isOver =
    polled.wrong_codes >= wrongCodesMax || attemptEnd(polled.attempt_id, polled.expires_at) <= at;
  if (isOver) return refusal("expired_token", "the claim link no longer works; begin a newer attempt");
  return refusal("authorization_pending", "the person has not claimed the workspace yet");
}

function refusal(error: PollRefusal["error"], description: string): PollRefusal {
  return { error, description };
}

/**
 * Notes the poll, and that the tokens are given when there are any to give. It is one statement that locks the row: of
 * simultaneous polls in all processes one is the first.
 */
async function poll(
  db: Db,
  { workspaceId, registrationId }: { readonly workspaceId: string; readonly registrationId: string },
  at: Date,
): Promise<Polled | undefined> {
  const { rows } = await sql<Polled>`
    with known as (
      select granted_at, polled_at, poll_seconds, claimed_at is not null and granted_at is null and expires_at > ${at} as is_first,
        polled_at > ${at}::timestamptz - make_interval(secs => poll_seconds) as is_early
      from agent_registrations where workspace_id = ${workspaceId} and id = ${registrationId} for no key update)
    update agent_registrations r set polled_at = ${at},
      poll_seconds = case when known.is_early then least(r.poll_seconds + ${pollSeconds}, ${pollSecondsMax})
        else r.poll_seconds end,
      granted_at = case when known.is_first then ${at} else r.granted_at end
    from known where r.workspace_id = ${workspaceId}
    returning r.id, r.attempt_id, r.wrong_codes, r.expires_at, r.scope, r.grant_id, r.claimed_by,
      coalesce(known.is_early, false) as is_too_early, known.granted_at is not null as is_granted, known.is_first`.execute(
    db,
  );
  return rows[0];
}
