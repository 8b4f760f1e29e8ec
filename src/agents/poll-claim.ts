import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import type { TokenAnswer } from "../oauth/issue-tokens.ts";
import { attemptEnd, wrongCodesMax } from "./attempts.ts";
import type { ClaimTokens, NamedRegistration } from "./claim-tokens.ts";
import type { AgentGrants } from "./grants.ts";

/** How many seconds an agent waits between two polls at first (behaviour 8.1). */
export const pollSeconds = 5;

/** Each poll that comes too early lengthens the wait by as much (RFC 8628, 3.5), up to this. */
const pollSecondsMax = 60;

export interface PollDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly tokens: ClaimTokens;
  readonly grants: Pick<AgentGrants, "isResource" | "issue">;
}

/** Why an agent gets no token now, by the names of RFC 6749, RFC 8628 and RFC 8707. */
export interface PollRefusal {
  readonly error:
    | "invalid_grant"
    | "invalid_target"
    | "authorization_pending"
    | "slow_down"
    | "expired_token";
  readonly description: string;
}

/** Gives the agent its wider token, once, when its workspace is claimed. */
export async function pollClaim(
  { db, now, tokens, grants }: PollDeps,
  { claimToken, resource }: { readonly claimToken: string; readonly resource: string | undefined },
): Promise<TokenAnswer | PollRefusal> {
  if (!grants.isResource(resource)) return refusal("invalid_target", "resource is none of this service");
  const named = tokens.readClaimToken(claimToken);
  const at = now();
  const polled = named && (await poll(db, named, at));
  if (named === undefined || polled === undefined)
    return refusal("invalid_grant", "claim_token is none of this service, or its registration is gone");
  if (polled.expires_at <= at) return refusal("expired_token", "the registration has ended; register again");
  if (!polled.is_claimed) return waiting(polled, at);
  const issued = await grants.issue({ workspaceId: named.workspaceId, grantId: polled.grant_id }, resource);
  return issued ?? refusal("invalid_grant", "the tokens were given already; use the refresh token");
}

function waiting(polled: Polled, at: Date): PollRefusal {
  if (polled.is_early) return refusal("slow_down", "wait 5 seconds longer between polls from now on");
  const isOver =
    polled.wrong_codes >= wrongCodesMax || attemptEnd(polled.attempt_id, polled.expires_at) <= at;
  if (isOver) return refusal("expired_token", "the claim link works no longer; begin a newer attempt");
  return refusal("authorization_pending", "nobody has claimed the workspace yet");
}

function refusal(error: PollRefusal["error"], description: string): PollRefusal {
  return { error, description };
}

interface Polled {
  readonly attempt_id: string;
  readonly wrong_codes: number;
  readonly expires_at: Date;
  readonly grant_id: string;
  readonly is_claimed: boolean;
  readonly is_early: boolean;
}

/** Notes a poll. It is one statement that locks the row, so that simultaneous polls in all processes see each other. */
async function poll(
  db: Db,
  { workspaceId, registrationId }: NamedRegistration,
  at: Date,
): Promise<Polled | undefined> {
  const { rows } = await sql<Polled>`
    with known as (
      select coalesce(polled_at > ${at}::timestamptz - make_interval(secs => poll_seconds), false) as is_early
      from agent_registrations where workspace_id = ${workspaceId} and id = ${registrationId} for no key update)
    update agent_registrations r set polled_at = ${at},
      poll_seconds = case when is_early then least(poll_seconds + ${pollSeconds}, ${pollSecondsMax}) else poll_seconds end
    from known where r.workspace_id = ${workspaceId}
    returning attempt_id, wrong_codes, expires_at, grant_id, claimed_at is not null as is_claimed, is_early`.execute(
    db,
  );
  return rows[0];
}
