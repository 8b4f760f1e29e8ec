import { type Selectable, sql } from "kysely";
import type { GoogleFormsIntegrations } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import type { Deps } from "../deps.ts";

export type IntegrationRow = Selectable<GoogleFormsIntegrations>;

/** The workspace's integration. A member who was deleted has not created it. */
export async function findIntegration(db: Db, workspaceId: string): Promise<IntegrationRow | undefined> {
  const { rows } = await sql<IntegrationRow>`
    select i.*, m.id as created_by from google_forms_integrations i
    left join members m on m.workspace_id = i.workspace_id and m.id = i.created_by
    where i.workspace_id = ${workspaceId}`.execute(db);
  return rows[0];
}

export type NewIntegration = Pick<
  IntegrationRow,
  "workspace_id" | "id" | "google_email" | "google_subject" | "refresh_token" | "created_by"
>;

/**
 * Connects an account in place of the one before, whose grant is revoked. The first responses are fetched within a minute.
 */
export async function replaceIntegration(
  tx: Db,
  jobCall: Deps["jobCall"],
  made: NewIntegration,
  at: Date,
): Promise<void> {
  await deleteIntegration(tx, jobCall, made.workspace_id);
  await tx
    .insertInto("google_forms_integrations")
    .values({ ...made, status: "ACTIVE", next_sync_at: at, created_at: at, updated_at: at })
    .execute();
}

/** Disconnects the account. The job that revokes its grant runs once this is committed. False when there is none. */
export async function deleteIntegration(
  db: Db,
  jobCall: Deps["jobCall"],
  workspaceId: string,
): Promise<boolean> {
  const revocation = jobCall("revoke-google-grant", {
    ownerId: sql.ref("workspace_id"),
    integrationId: sql.ref("id"),
    subject: sql.ref("google_subject"),
    token: sql`encode(refresh_token, 'hex')`,
  });
  const { rows } = await sql`
    with gone as (delete from google_forms_integrations where workspace_id = ${workspaceId} returning *)
    select ${revocation} from gone`.execute(db);
  return rows.length > 0;
}

/**
 * Pauses or resumes an integration that is not disconnected. Resumed, it is fetched within a minute. A run that is under
 * way writes nothing more. Nothing changes when the status is the same.
 */
export async function setStatus(
  db: Db,
  workspaceId: string,
  status: "ACTIVE" | "PAUSED",
  at: Date,
): Promise<void> {
  await sql`
    update google_forms_integrations
    set status = ${status}, updated_at = ${at}, next_sync_at = ${at}, run = null, run_until = null
    where workspace_id = ${workspaceId} and status not in ('DISCONNECTED', ${status})`.execute(db);
}
