import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { isDisconnecting, sentenceOf } from "../integrations/slack/sentences.ts";
import type { Slack } from "../integrations/slack/slack.ts";
import type { TokenBox } from "../integrations/token-box.ts";
import type { QueuedJobs } from "../model/jobs.ts";
import { jobCall } from "./queue.ts";

export interface RevocationDeps {
  readonly db: Db;
  readonly slack: Pick<Slack, "revoke">;
  readonly tokenBox: TokenBox;
}

/**
 * Revokes the bot's token of an integration that is gone. Slack gives one token to all workspaces of a team, so the last
 * one that is connected revokes it. Throws when Slack does not, so that the job runs again.
 */
export async function revokeSlackToken(
  { db, slack, tokenBox }: RevocationDeps,
  { workspaceId, integrationId, sealedToken }: QueuedJobs["revoke-slack-token"],
): Promise<void> {
  const sealed = Buffer.from(sealedToken, "base64");
  const token = tokenBox.open(sealed, { kind: "slack", workspaceId, integrationId });
  const hash = createHash("sha256").update(token).digest();
  const { rows } = await sql`select from slack_integrations where token_hash = ${hash} limit 1`.execute(db);
  if (rows.length > 0) return;
  const revoked = await slack.revoke(token);
  if (revoked.ok || isDisconnecting(revoked.problem)) return;
  throw new Error(`the token of a Slack integration was not revoked: ${sentenceOf(revoked.problem)}`);
}

/** Deletes the integration of a workspace that is purged, and queues the revocation of its token. */
export async function deleteSlackIntegration(db: Db, workspaceId: string): Promise<void> {
  const revocation = {
    workspaceId: sql.ref("gone.workspace_id"),
    integrationId: sql.ref("gone.id"),
    sealedToken: sql`encode(gone.bot_token, 'base64')`,
  };
  await sql`with gone as (delete from slack_integrations where workspace_id = ${workspaceId} returning *)
    select ${jobCall("revoke-slack-token", revocation)} from gone`.execute(db);
}
