import { type Insertable, type Selectable, sql } from "kysely";
import type { LinkSettings, Members, Workspaces, WorkspaceTokens } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import type { PublicWorkspaceRow } from "../resources/workspace.ts";

export interface NewWorkspaceRows {
  readonly workspace: Insertable<Workspaces>;
  readonly linkSetting: Insertable<LinkSettings>;
  readonly member: Insertable<Members>;
  /** Absent when nobody is there yet to be told the token. */
  readonly token?: Insertable<WorkspaceTokens>;
}

/**
 * Inserts the rows that every workspace begins with. Breaks member_emails_pkey when the e-mail address has an account.
 */
export async function insertWorkspace(db: Db, rows: NewWorkspaceRows): Promise<void> {
  const { workspace, linkSetting, member, token } = rows;
  const begun = db
    .with("new_workspace", (query) => query.insertInto("workspaces").values(workspace))
    .with("new_link_setting", (query) => query.insertInto("link_settings").values(linkSetting))
    .with("new_member", (query) => query.insertInto("members").values(member));
  const whole =
    token === undefined
      ? begun
      : begun.with("new_token", (query) => query.insertInto("workspace_tokens").values(token));
  await whole
    .insertInto("member_emails")
    .values({ email: member.email, workspace_id: member.workspace_id, member_id: member.id })
    .execute();
}

/** Inserts a workspace without members. */
export async function insertEmptyWorkspace(
  db: Db,
  { workspace, linkSetting }: Pick<NewWorkspaceRows, "workspace" | "linkSetting">,
): Promise<void> {
  await db
    .with("new_workspace", (query) => query.insertInto("workspaces").values(workspace))
    .insertInto("link_settings")
    .values(linkSetting)
    .execute();
}

/** Whether the service has no workspace yet. */
export async function hasNoWorkspace(db: Db): Promise<boolean> {
  return (await db.selectFrom("workspaces").select("id").limit(1).executeTakeFirst()) === undefined;
}

/** A living workspace: the caller's own, or a sandbox of it. */
export async function findWorkspace(
  db: Db,
  id: string,
  callersId: string,
): Promise<Selectable<Workspaces> | undefined> {
  const { rows } = await sql<Selectable<Workspaces>>`select * from workspaces
    where id = ${id} and deleted_at is null and ${callersId} in (id, parent_workspace_id)`.execute(db);
  return rows[0];
}

/** The public part of a public workspace. A sandbox is never public. Served by workspaces_slug_key. */
export async function findPublicWorkspace(db: Db, slug: string): Promise<PublicWorkspaceRow | undefined> {
  const { rows } = await sql<PublicWorkspaceRow>`
    select name, slug, short_description, description, website, tags, faq, to_json(published_at) #>> '{}' as published_at
    from workspaces
    where slug = ${slug} and published_at is not null and deleted_at is null and environment = 'live'`.execute(
    db,
  );
  return rows[0];
}

/** A workspace that waits for the operator to make it public. */
export interface EnrollmentRequest {
  readonly id: string;
  readonly name: string;
  readonly slug: string | null;
  readonly enroll_message: string;
  readonly enroll_requested_at: Date | null;
}

const waitingMax = 100;

/** The hundred workspaces that have waited longest for becoming public. */
export async function listEnrollmentRequests(db: Db): Promise<EnrollmentRequest[]> {
  return db
    .selectFrom("workspaces")
    .select(["id", "name", "slug", "enroll_message", "enroll_requested_at"])
    .where("enroll_requested_at", "is not", null)
    .where("published_at", "is", null)
    .where("deleted_at", "is", null)
    .orderBy("enroll_requested_at")
    .limit(waitingMax)
    .execute();
}
