import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { newId, timeOfUuid } from "../lib/ids.ts";
import type { ClaimTokens, NamedAttempt } from "./claim-tokens.ts";

/** How long a claim link works, in milliseconds (behaviour 8.1). */
const attemptLifeMs = 30 * 60 * 1000;

/** The fifth wrong code voids a link. */
export const wrongCodesMax = 5;

/** How many links an agent may make for one registration: more would be more guesses at codes. */
export const attemptsMax = 100;

/** When a link stops working; `registrationEnd` is the end of its registration. */
export function attemptEnd(attemptId: string, registrationEnd: Date): Date {
  return new Date(Math.min(timeOfUuid(attemptId).getTime() + attemptLifeMs, registrationEnd.getTime()));
}

/** The link by which a person claims a workspace, as its holder sees it. */
export interface ClaimLink extends NamedAttempt {
  readonly email: string;
  readonly clientName: string;
  readonly status: "PENDING" | "CLAIMED" | "EXPIRED";
  readonly expiresAt: Date;
  readonly registeredAt: Date;
  /** What the agent may do once the workspace is claimed. */
  readonly scope: string;
}

/** Finds a link by its secret. Undefined when there is none; an expired or used link is found, and its status tells. */
export async function findClaimLink(
  { db, now, tokens }: { readonly db: Db; readonly now: () => Date; readonly tokens: ClaimTokens },
  token: string,
): Promise<ClaimLink | undefined> {
  const named = tokens.readAttemptToken(token);
  if (named === undefined) return undefined;
  const row = await db
    .selectFrom("agent_registrations as registration")
    .innerJoin("workspaces", "workspaces.id", "registration.workspace_id")
    .selectAll("registration")
    .select("workspaces.deleted_at")
    .where("registration.workspace_id", "=", named.workspaceId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const isNewest = row.attempt_id === named.attemptId;
  const ownEnd = attemptEnd(named.attemptId, row.expires_at);
  const newerBegan = timeOfUuid(row.attempt_id);
  const isOpen =
    isNewest &&
    row.deleted_at === null &&
    row.wrong_codes < wrongCodesMax &&
    ownEnd.getTime() > now().getTime();
  return {
    ...named,
    email: row.email,
    clientName: row.client_name,
    status: row.claimed_at !== null ? "CLAIMED" : isOpen ? "PENDING" : "EXPIRED",
    // A newer link ends those before it.
    expiresAt: isNewest || newerBegan > ownEnd ? ownEnd : newerBegan,
    registeredAt: row.created_at,
    scope: row.scope,
  };
}

/**
 * Counts a code that was typed, unless the link is over. It is one statement that locks the row: of simultaneous tries in
 * all processes five wrong ones are compared. Returns how many wrong codes there were; undefined when the link is over.
 */
export async function countCode(
  db: Db,
  { workspaceId, attemptId }: NamedAttempt,
  { isRight, at }: { readonly isRight: boolean; readonly at: Date },
): Promise<number | undefined> {
  const { rows } = await sql<{ wrong_codes: number }>`
    update agent_registrations set wrong_codes = wrong_codes + ${isRight ? 0 : 1}
    where workspace_id = ${workspaceId} and attempt_id = ${attemptId} and claimed_at is null
      and wrong_codes < ${wrongCodesMax} and expires_at > ${at}
    returning wrong_codes`.execute(db);
  return rows[0]?.wrong_codes;
}

/** Why there is no newer link. */
export type NoAttempt = "unknown" | "claimed" | "expired" | "too-many";

/** Makes a newer link, which ends the older one. `claimToken` is the agent's secret. */
export async function beginAttempt(
  { db, now, tokens }: { readonly db: Db; readonly now: () => Date; readonly tokens: ClaimTokens },
  claimToken: string,
): Promise<
  | {
      readonly registrationId: string;
      readonly workspaceId: string;
      readonly attemptId: string;
      readonly expiresAt: Date;
    }
  | NoAttempt
> {
  const named = tokens.readClaimToken(claimToken);
  if (named === undefined) return "unknown";
  const at = now();
  const attemptId = newId(at);
  const { workspaceId, registrationId } = named;
  const begun = await db
    .updateTable("agent_registrations")
    .set((eb) => ({ attempt_id: attemptId, wrong_codes: 0, attempts: eb("attempts", "+", 1) }))
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", registrationId)
    .where("claimed_at", "is", null)
    .where("expires_at", ">", at)
    .where("attempts", "<", attemptsMax)
    .returning("expires_at")
    .executeTakeFirst();
  if (begun !== undefined) return { registrationId, workspaceId, attemptId, expiresAt: begun.expires_at };
  const row = await db
    .selectFrom("agent_registrations")
    .select(["claimed_at", "expires_at"])
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", registrationId)
    .executeTakeFirst();
  if (row === undefined) return "unknown";
  if (row.claimed_at !== null) return "claimed";
  return row.expires_at > at ? "too-many" : "expired";
}
