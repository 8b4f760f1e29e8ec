import type { Db } from "../../db/open.ts";
import type { Google } from "../../integrations/google-forms/google.ts";
import type { TokenBox } from "../../integrations/token-box.ts";
import type { QueuedJobs } from "../../model/jobs.ts";

export interface RevokeDeps {
  readonly db: Db;
  readonly google: Google | undefined;
  readonly tokenBox: TokenBox;
}

/**
 * Ends the grant of an account that was disconnected. The job is repeated as long as Google does not answer. A grant
 * belongs to the account: it stays as long as another connection, of whatever workspace, uses the same account.
 */
export async function revokeGoogleGrant(
  { db, google, tokenBox }: RevokeDeps,
  { ownerId, integrationId, subject, token }: QueuedJobs["revoke-google-grant"],
): Promise<void> {
  if (google === undefined) return;
  const others = await db
    .selectFrom("google_forms_integrations")
    .select("workspace_id")
    .where("google_subject", "=", subject)
    .where("google_subject", "<>", "")
    .limit(1)
    .execute();
  if (others.length > 0) return;
  const place = { kind: "google-forms", workspaceId: ownerId, integrationId } as const;
  await google.revoke(tokenBox.open(Buffer.from(token, "hex"), place));
}
