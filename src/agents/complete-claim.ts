import { type Db, inTransaction, violates } from "../db/open.ts";
import { type CallError, fail } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import type { SigningMember } from "../people/members.ts";
import type { LastKnown } from "../people/sign-in-origin.ts";
import { takeSignInTry } from "../people/sign-in-tries.ts";
import { type ClaimLink, countCode, findClaimLink, wrongCodesMax } from "./attempts.ts";
import type { ClaimTokens } from "./claim-tokens.ts";
import type { AgentGrants } from "./grants.ts";

export interface ClaimDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly tokens: ClaimTokens;
}

/** What a person has in hand, and the address that they send it from. */
export interface ClaimAttempt {
  readonly token: string;
  readonly userCode: string;
  readonly address: string;
}

/**
 * Finds the link and checks the code, before anything is hashed. It must not run in a transaction that may be undone: each
 * wrong code counts. Throws NOT_FOUND, CLAIM_EXPIRED, CLAIM_ALREADY_COMPLETED, INVALID_USER_CODE and RATE_LIMITED.
 */
export async function checkClaim(
  { db, now, tokens }: ClaimDeps,
  { token, userCode, address }: ClaimAttempt,
): Promise<ClaimLink> {
  const link = await findClaimLink({ db, now, tokens }, token);
  if (link === undefined)
    throw fail("NOT_FOUND", "NOT_FOUND", "claimAttemptToken: there is no such claim link");
  if (link.status !== "PENDING") throw closed(link.status);
  const at = now();
  const taken = await takeSignInTry(db, { email: `claim ${link.attemptId}`, address }, at);
  if (!taken.isAllowed) {
    throw fail(
      "RESOURCE_EXHAUSTED",
      "RATE_LIMITED",
      "too many wrong codes from this address; try again later",
      {
        retryAfterSeconds: taken.seconds,
      },
    );
  }
  const isRight = tokens.isUserCode(link.attemptId, userCode);
  const wrongCodes = await countCode(db, link, { isRight, at });
  if (wrongCodes === undefined) throw closed((await findClaimLink({ db, now, tokens }, token))?.status);
  if (!isRight) throw wrongCode(wrongCodesMax - wrongCodes);
  await taken.giveBack();
  return link;
}

function wrongCode(left: number): CallError {
  const more =
    left === 0
      ? "the link works no longer: ask the agent for a new one"
      : `${left === 1 ? "1 try is" : `${left} tries are`} left`;
  return fail(
    "INVALID_ARGUMENT",
    "INVALID_USER_CODE",
    `userCode: is not the code that the agent showed; ${more}`,
    {
      fields: [
        { field: "userCode", description: "must be the 6 digits that the agent showed with the link" },
      ],
      metadata: { triesLeft: String(left) },
    },
  );
}

function closed(status: ClaimLink["status"] | undefined): CallError {
  return status === "CLAIMED"
    ? fail(
        "FAILED_PRECONDITION",
        "CLAIM_ALREADY_COMPLETED",
        "the workspace was claimed already; sign in instead",
      )
    : fail(
        "FAILED_PRECONDITION",
        "CLAIM_EXPIRED",
        "the claim link works no longer; ask the agent for a new one",
      );
}

/** The person who claims: with a password, or with an account elsewhere and then without one. */
export interface Claimant {
  readonly passwordHash: string | null;
  readonly lastKnown: LastKnown;
}

/**
 * Makes the person the administrator of the workspace, in the caller's transaction if there is one. Undefined when the link
 * has closed since it was checked: check it again. Throws EMAIL_ALREADY_REGISTERED.
 */
export function completeClaim(
  db: Db,
  link: ClaimLink,
  {
    claimant,
    claimGrant,
    at,
  }: { readonly claimant: Claimant; readonly claimGrant: AgentGrants["claim"]; readonly at: Date },
): Promise<SigningMember | undefined> {
  const { workspaceId, attemptId, email } = link;
  return inTransaction(db, async (tx) => {
    const memberId = newId(at);
    const claimed = await tx
      .updateTable("agent_registrations")
      .set({ claimed_at: at, claimed_by: memberId })
      .where("workspace_id", "=", workspaceId)
      .where("attempt_id", "=", attemptId)
      .where("claimed_at", "is", null)
      .where("wrong_codes", "<", wrongCodesMax)
      .where("expires_at", ">", at)
      .where("ended_at", "is", null)
      .returning(["grant_id as grantId", "scope"])
      .executeTakeFirst();
    if (claimed === undefined) return undefined;
    await insertAdministrator(tx, { workspaceId, memberId, email, claimant, at });
    const verified = await tx
      .updateTable("workspaces")
      .set({ verified_at: at, awaits_claim: false, updated_at: at })
      .where("id", "=", workspaceId)
      .where("deleted_at", "is", null)
      .returning("enforce_mfa")
      .executeTakeFirst();
    if (verified === undefined) throw closed("EXPIRED");
    const { grantId, scope } = claimed;
    await claimGrant(tx, { workspaceId, grantId }, { memberId, scope });
    const { passwordHash } = claimant;
    return { workspaceId, memberId, email, passwordHash, epoch: 0, needsCode: false, isShutOut: false };
  });
}

interface Administrator {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly email: string;
  readonly claimant: Claimant;
  readonly at: Date;
}

async function insertAdministrator(
  tx: Db,
  { workspaceId, memberId, email, claimant, at }: Administrator,
): Promise<void> {
  try {
    await tx
      .with("member", (query) =>
        query.insertInto("members").values({
          ...{ workspace_id: workspaceId, id: memberId, email, role: "ADMIN" },
          ...{ password_hash: claimant.passwordHash, email_verified_at: at },
          ...{ last_signin_at: at, ...claimant.lastKnown, created_at: at, updated_at: at },
        }),
      )
      .insertInto("member_emails")
      .values({ email, workspace_id: workspaceId, member_id: memberId })
      .execute();
  } catch (error) {
    if (!violates(error, "member_emails_pkey")) throw error;
    throw fail(
      "ALREADY_EXISTS",
      "EMAIL_ALREADY_REGISTERED",
      `${email} already has an account; sign in, or have the agent register with another address`,
    );
  }
}
