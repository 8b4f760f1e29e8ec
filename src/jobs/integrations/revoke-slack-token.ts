import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { openForRevocation, sealForRevocation } from "../../integrations/slack/revocation.ts";
import { isDisconnecting, sentenceOf } from "../../integrations/slack/sentences.ts";
import type { Slack } from "../../integrations/slack/slack.ts";
import type { TokenBox } from "../../integrations/token-box.ts";
import type { QueuedJobs } from "../../model/jobs.ts";
import { enqueue } from "../queue.ts";

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
  { sealedToken }: QueuedJobs["revoke-slack-token"],
): Promise<void> {
  const token = openForRevocation(tokenBox, sealedToken);
  const hash = createHash("sha256").update(token).digest();
  const { rows } = await sql`select from slack_integrations where token_hash = ${hash} limit 1`.execute(db);
  if (rows.length > 0) return;
  const revoked = await slack.revoke(token);
  if (revoked.ok || isDisconnecting(revoked.problem)) return;
  throw new Error(`the token of a Slack integration was not revoked: ${sentenceOf(revoked.problem)}`);
}

/** Queues the revocation of the token of a workspace that is purged, and deletes the integration. */
export async function deleteSlackIntegration(
  { db, tokenBox }: Pick<RevocationDeps, "db" | "tokenBox">,
  workspaceId: string,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const gone = await tx
      .deleteFrom("slack_integrations")
      .where("workspace_id", "=", workspaceId)
      .returning(["workspace_id", "id", "bot_token"])
      .executeTakeFirst();
    const sealedToken = gone && sealForRevocation(tokenBox, gone);
    if (sealedToken !== undefined) await enqueue(tx, "revoke-slack-token", { sealedToken });
  });
}
