import type { Db } from "../db/open.ts";
import type { Session, VerifySession } from "../people/sessions.ts";
import { isOpen, readStanding } from "../people/standing.ts";
import type { Visit } from "./visit.ts";

export interface SignedInDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly verifySession: VerifySession;
}

/** Who is signed in, as the account page shows it. */
export interface SignedIn {
  readonly session: Session;
  readonly email: string;
  readonly workspaceName: string;
}

/** The session of a browser that goes on; undefined when nobody is signed in. */
export function signedInBy(deps: SignedInDeps, { req, cookies }: Visit): Promise<SignedIn | undefined> {
  return openSession(deps, cookies.read(req.headers.cookie, "session"));
}

/** The session of an access token that goes on. It is asked of the database, so an ended one never counts. */
export async function openSession(
  { db, now, verifySession }: SignedInDeps,
  accessToken: string | undefined,
): Promise<SignedIn | undefined> {
  const session = accessToken === undefined ? undefined : await verifySession(accessToken);
  if (session === undefined || session.expiresAtMs <= now().getTime()) return undefined;
  if (!isOpen(session, await readStanding(db, session))) return undefined;
  const row = await db
    .selectFrom("members")
    .innerJoin("workspaces", "workspaces.id", "members.workspace_id")
    .select(["members.email", "workspaces.name"])
    .where("members.workspace_id", "=", session.workspaceId)
    .where("members.id", "=", session.memberId)
    .where("workspaces.deleted_at", "is", null)
    .executeTakeFirst();
  return row && { session, email: row.email, workspaceName: row.name };
}
