import type { Db } from "../db/open.ts";
import type { LastKnown } from "./sign-in-origin.ts";

/** A member as sign-in needs it. */
export interface SigningMember {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly email: string;
  readonly passwordHash: string | null;
  readonly epoch: number;
  /** Whether the workspace also wants a code by mail. */
  readonly needsCode: boolean;
  /** Whether the member is suspended or the workspace deleted. */
  readonly isShutOut: boolean;
}

/** An e-mail address in the form in which addresses are compared. PostgreSQL keeps no NUL. */
export function normalEmail(email: string): string {
  return email.replaceAll("\0", "").trim().toLowerCase();
}

const address =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** Whether a text could be an address, by the rule of HTML, which the API has too; only its owner can tell for certain. */
export function isEmail(text: string): boolean {
  return text.length <= 254 && address.test(text);
}

/** The member that signs in with an address; undefined when there is none. */
export async function memberByEmail(db: Db, email: string): Promise<SigningMember | undefined> {
  const row = await members(db)
    .innerJoin("member_emails", (join) =>
      join
        .onRef("member_emails.workspace_id", "=", "members.workspace_id")
        .onRef("member_emails.member_id", "=", "members.id"),
    )
    .where("member_emails.email", "=", email)
    .executeTakeFirst();
  return row && signingMember(row);
}

export async function memberById(
  db: Db,
  { workspaceId, memberId }: Pick<SigningMember, "workspaceId" | "memberId">,
): Promise<SigningMember | undefined> {
  const row = await members(db)
    .where("members.workspace_id", "=", workspaceId)
    .where("members.id", "=", memberId)
    .executeTakeFirst();
  return row && signingMember(row);
}

function members(db: Db) {
  return db
    .selectFrom("members")
    .innerJoin("workspaces", "workspaces.id", "members.workspace_id")
    .select([
      "members.workspace_id",
      "members.id",
      "members.email",
      "members.password_hash",
      "members.session_epoch",
      "members.access_revoked_at",
      "workspaces.enforce_mfa",
      "workspaces.deleted_at",
    ]);
}

type Row = NonNullable<Awaited<ReturnType<ReturnType<typeof members>["executeTakeFirst"]>>>;

function signingMember(row: Row): SigningMember {
  return {
    workspaceId: row.workspace_id,
    memberId: row.id,
    email: row.email,
    passwordHash: row.password_hash,
    epoch: row.session_epoch,
    needsCode: row.enforce_mfa,
    isShutOut: row.access_revoked_at !== null || row.deleted_at !== null,
  };
}

/** Notes a sign-in and where it came from, which also ends the inactivity of the workspace. */
export async function noteSignIn(
  db: Db,
  { workspaceId, memberId }: Pick<SigningMember, "workspaceId" | "memberId">,
  lastKnown: LastKnown,
  at: Date,
): Promise<void> {
  await db
    .with("active", (cte) =>
      cte
        .updateTable("workspaces")
        .set({ inactive_since: null })
        .where("id", "=", workspaceId)
        .where("inactive_since", "is not", null),
    )
    .updateTable("members")
    .set({ last_signin_at: at, ...lastKnown })
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", memberId)
    .execute();
}
