import type { Insertable } from "kysely";
import type { LinkSettings, Members, Workspaces, WorkspaceTokens } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";

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

/** Whether the service has no workspace yet. */
export async function hasNoWorkspace(db: Db): Promise<boolean> {
  return (await db.selectFrom("workspaces").select("id").limit(1).executeTakeFirst()) === undefined;
}
