import { createHmac, timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
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

/** Closes every open challenge of a member: the links and codes that were mailed meet nothing any more. */
export async function closeChallenges(
  db: Db,
  { workspaceId, memberId }: Pick<ChallengedMember, "workspaceId" | "memberId">,
  at: Date,
): Promise<void> {
  await db
    .updateTable("member_challenges")
    .set({ used_at: at })
    .where("workspace_id", "=", workspaceId)
    .where("member_id", "=", memberId)
    .where("used_at", "is", null)
    .execute();
}

/** Deletes some of the challenges that ended more than a day ago, and returns how many. */
export async function deleteOldChallenges(db: Db, now: Date): Promise<number> {
  const endedBefore = new Date(now.getTime() - 24 * 60 * 60 * 1000);
  const { rows } = await sql`
    delete from member_challenges c using (
      select workspace_id, id from member_challenges where expires_at < ${endedBefore}
      limit 1000 for update skip locked) old
    where c.workspace_id = old.workspace_id and c.id = old.id
    returning c.id`.execute(db);
  return rows.length;
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

/** A challenge of a mail, as its link names it. */
export interface NamedChallenge {
  readonly workspaceId: string;
  readonly challengeId: string;
}

/** What the link in a mail says about its challenge, 117 characters: `<workspace id>.<challenge id>.<secret>`. */
export function challengeToken(key: Uint8Array, { workspaceId, challengeId }: NamedChallenge): string {
  return `${workspaceId}.${challengeId}.${challengeSecret(key, challengeId)}`;
}

const tokenForm = /^([0-9a-f-]{36})\.([0-9a-f-]{36})\.([\w-]{43})$/;

/**
 * Reads what `challengeToken` made. Undefined when the secret is not that of the challenge, so that a forged link asks
 * nothing of the database. Whether the challenge can still be met is for the caller to look up.
 */
export function readChallengeToken(key: Uint8Array, token: string): NamedChallenge | undefined {
  const [, workspaceId, challengeId, secret] = tokenForm.exec(token) ?? [];
  if (workspaceId === undefined || challengeId === undefined || secret === undefined) return undefined;
  const wanted = Buffer.from(challengeSecret(key, challengeId));
  return timingSafeEqual(wanted, Buffer.from(secret)) ? { workspaceId, challengeId } : undefined;
}

/** The pages below the address of the authorization server to which the links of mails lead. */
export const challengePages = {
  INVITATION: "invitation",
  EMAIL_CONFIRMATION: "confirm",
  PASSWORD_RESET: "reset",
} as const satisfies Partial<Record<MemberChallengeKind, string>>;

/** The link of a mail, such as `https://example.com/auth/confirm?challenge=<token>`. */
export function challengeLink(
  { key, authUrl }: { readonly key: Uint8Array; readonly authUrl: string },
  kind: keyof typeof challengePages,
  challenge: NamedChallenge,
): string {
  return `${authUrl}/${challengePages[kind]}?challenge=${challengeToken(key, challenge)}`;
}
