import { sql } from "kysely";
import { type Db, inTransaction } from "../db/open.ts";
import type { NamedChallenge } from "./challenges.ts";

/** A challenge of a mail that can be met now, and what its page shows. */
export interface OpenChallenge {
  readonly memberId: string;
  readonly email: string;
  readonly workspaceName: string;
}

type Kind = "INVITATION" | "EMAIL_CONFIRMATION" | "PASSWORD_RESET";

/**
 * Looks a challenge up without using it, because programs that scan mails open links. Undefined when it was used, is too
 * old, or when its member has another address by now, is suspended or gone, or the workspace deleted.
 */
export function findChallenge(
  db: Db,
  { workspaceId, challengeId }: NamedChallenge,
  kind: Kind,
  at: Date,
): Promise<OpenChallenge | undefined> {
  return db
    .selectFrom("member_challenges as challenge")
    .innerJoin("members", (join) =>
      join
        .onRef("members.workspace_id", "=", "challenge.workspace_id")
        .onRef("members.id", "=", "challenge.member_id")
        .onRef("members.email", "=", "challenge.email"),
    )
    .innerJoin("workspaces", "workspaces.id", "challenge.workspace_id")
    .select(["challenge.member_id as memberId", "challenge.email", "workspaces.name as workspaceName"])
    .where("challenge.workspace_id", "=", workspaceId)
    .where("challenge.id", "=", challengeId)
    .where("challenge.kind", "=", kind)
    .where("challenge.used_at", "is", null)
    .where("challenge.expires_at", ">", at)
    .where("members.access_revoked_at", "is", null)
    .where("workspaces.deleted_at", "is", null)
    .executeTakeFirst();
}

/** Confirms the address of a challenge. Returns the member, or undefined when the challenge can no longer be met. */
export async function confirmAddress(
  db: Db,
  challenge: NamedChallenge,
  at: Date,
): Promise<OpenChallenge | undefined> {
  return meet(db, challenge, { kind: "EMAIL_CONFIRMATION", at });
}

/**
 * Sets the password of whoever holds the link of an invitation or a reset, which also confirms the address and ends all
 * sessions and every other link of the kind. A reset removes the passkeys too.
 */
export async function setPassword(
  db: Db,
  challenge: NamedChallenge,
  {
    kind,
    passwordHash,
    at,
  }: { readonly kind: "INVITATION" | "PASSWORD_RESET"; readonly passwordHash: string; readonly at: Date },
): Promise<OpenChallenge | undefined> {
  return inTransaction(db, async (tx) => {
    const met = await meet(tx, challenge, { kind, at });
    if (met === undefined) return undefined;
    const member = { workspaceId: challenge.workspaceId, memberId: met.memberId };
    await tx
      .updateTable("members")
      .set((eb) => ({
        password_hash: passwordHash,
        session_epoch: eb("session_epoch", "+", 1),
        kept_session_id: null,
        ended_session_ids: [],
      }))
      .where("workspace_id", "=", member.workspaceId)
      .where("id", "=", member.memberId)
      .execute();
    // Whoever had the account may have made a passkey; no page must let them in again.
    if (kind === "PASSWORD_RESET") {
      await tx
        .deleteFrom("member_passkeys")
        .where("workspace_id", "=", member.workspaceId)
        .where("member_id", "=", member.memberId)
        .execute();
    }
    await tx
      .updateTable("member_challenges")
      .set({ used_at: at })
      .where("workspace_id", "=", member.workspaceId)
      .where("member_id", "=", member.memberId)
      .where("kind", "in", ["INVITATION", "PASSWORD_RESET", "SIGN_IN_CODE"])
      .where("used_at", "is", null)
      .execute();
    return met;
  });
}

/** Uses a challenge up and confirms its address, in one transaction: of two who hold the link one gets through. */
function meet(
  db: Db,
  challenge: NamedChallenge,
  { kind, at }: { readonly kind: Kind; readonly at: Date },
): Promise<OpenChallenge | undefined> {
  const { workspaceId, challengeId } = challenge;
  return inTransaction(db, async (tx) => {
    const found = await findChallenge(tx, challenge, kind, at);
    if (found === undefined) return undefined;
    const { rows } = await sql<{ id: string }>`
      with used as (
        update member_challenges set used_at = ${at}
        where workspace_id = ${workspaceId} and id = ${challengeId} and used_at is null and expires_at > ${at}
        returning member_id, email)
      update members set email_verified_at = coalesce(email_verified_at, ${at}), updated_at = ${at}
      from used
      where members.workspace_id = ${workspaceId} and members.id = used.member_id and members.email = used.email
      returning members.id`.execute(tx);
    return rows.length === 0 ? undefined : found;
  });
}
