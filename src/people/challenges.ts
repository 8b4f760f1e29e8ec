import { createHmac } from "node:crypto";
import type { MemberChallengeKind } from "../../gen/database.ts";
import type { Db } from "../db/open.ts";
import { newId } from "../lib/ids.ts";

/** How long each challenge can be met, in milliseconds (behaviour 2.1 and 8.15). */
export const challengeLivesMs: Readonly<Record<MemberChallengeKind, number>> = {
  INVITATION: 7 * 24 * 60 * 60 * 1000,
  EMAIL_CONFIRMATION: 7 * 24 * 60 * 60 * 1000,
  SIGN_IN_CODE: 15 * 60 * 1000,
  PASSWORD_RESET: 60 * 60 * 1000,
};

export interface ChallengedMember {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly email: string;
}

/** Makes a challenge in the caller's transaction and returns its id. */
export async function makeChallenge(
  db: Db,
  { workspaceId, memberId, email }: ChallengedMember,
  { kind, at }: { readonly kind: MemberChallengeKind; readonly at: Date },
): Promise<string> {
  const id = newId(at);
  await db
    .insertInto("member_challenges")
    .values({
      workspace_id: workspaceId,
      id,
      member_id: memberId,
      kind,
      email,
      expires_at: new Date(at.getTime() + challengeLivesMs[kind]),
      created_at: at,
    })
    .execute();
  return id;
}

/**
 * The secret in the link that a mail carries: 43 characters `[A-Za-z0-9_-]`, an HMAC-SHA256 of the challenge's id with the
 * key for `member-challenges`. So the database holds nothing that meets a challenge.
 */
export function challengeSecret(key: Uint8Array, challengeId: string): string {
  return createHmac("sha256", key).update(`link ${challengeId}`).digest("base64url");
}

/** The code of a challenge that people type: 6 digits. */
export function challengeCode(key: Uint8Array, challengeId: string): string {
  const hash = createHmac("sha256", key).update(`code ${challengeId}`).digest();
  // 48 bits: the remainder prefers no code by more than one in 280 million.
  return String(hash.readUIntBE(0, 6) % 1_000_000).padStart(6, "0");
}
