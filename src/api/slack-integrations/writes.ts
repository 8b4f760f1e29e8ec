import { createHash } from "node:crypto";
import { type Insertable, type Selectable, sql } from "kysely";
import type { SlackIntegrations } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import type { SubscriberKey } from "../../outbox/sender.ts";
import { addSubscriber, removeSubscriber } from "../../outbox/subscribers.ts";
import type { Deps } from "../deps.ts";

type Row = Selectable<SlackIntegrations>;

export interface NewIntegration
  extends Pick<
    Insertable<SlackIntegrations>,
    "workspace_id" | "id" | "team_id" | "team_name" | "created_by"
  > {
  readonly sealedToken: Buffer;
  readonly botToken: string;
  readonly at: Date;
}

/** What all integrations with the same token have in common. */
export function tokenHash(botToken: string): Buffer {
  return createHash("sha256").update(botToken).digest();
}

/** Connects the workspace, in place of what it was connected to. Nothing is queued until a channel is chosen. */
export async function insertIntegration(
  tx: Db,
  jobCall: Deps["jobCall"],
  { sealedToken, botToken, at, ...ids }: NewIntegration,
): Promise<void> {
  // Of two calls at once the second one replaces what the first one has made.
  await sql`select from workspaces where id = ${ids.workspace_id} for no key update`.execute(tx);
  await deleteIntegration(tx, jobCall, ids.workspace_id);
  await tx
    .insertInto("slack_integrations")
    .values({
      ...ids,
      bot_token: sealedToken,
      token_hash: tokenHash(botToken),
      created_at: at,
      updated_at: at,
    })
    .execute();
  await addSubscriber(tx, {
    workspaceId: ids.workspace_id,
    subscriberId: ids.id,
    kind: "SLACK",
    status: "PAUSED",
    linkId: null,
    triggers: [],
    at,
  });
}

/** Deletes the workspace's integration and queues the revocation of its token. False when there is none. */
export async function deleteIntegration(
  tx: Db,
  jobCall: Deps["jobCall"],
  workspaceId: string,
): Promise<boolean> {
  const revocation = {
    workspaceId: sql.ref("gone.workspace_id"),
    integrationId: sql.ref("gone.id"),
    sealedToken: sql`encode(gone.bot_token, 'base64')`,
  };
  const { rows } = await sql<Pick<Row, "id">>`
    with gone as (delete from slack_integrations where workspace_id = ${workspaceId} returning *)
    select gone.id, ${jobCall("revoke-slack-token", revocation)} from gone`.execute(tx);
  for (const { id } of rows) await removeSubscriber(tx, { workspaceId, subscriberId: id });
  return rows.length > 0;
}

/** Changes a locked integration. */
export async function updateIntegration(
  tx: Db,
  workspaceId: string,
  change: Pick<Row, "is_paused" | "channel_id" | "channel_name" | "updated_at">,
): Promise<void> {
  await tx.updateTable("slack_integrations").set(change).where("workspace_id", "=", workspaceId).execute();
}

/** Keeps what Slack said about the last message: a sentence, or an empty text when it was accepted. */
export async function keepLastError(
  db: Db,
  { workspaceId, subscriberId }: SubscriberKey,
  sentence: string,
): Promise<void> {
  await sql`update slack_integrations set last_error = ${sentence}
    where workspace_id = ${workspaceId} and id = ${subscriberId} and last_error <> ${sentence}`.execute(db);
}
