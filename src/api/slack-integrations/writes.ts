import { createHash } from "node:crypto";
import { type Insertable, type Selectable, sql } from "kysely";
import type { SlackIntegrations } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import { sealForRevocation } from "../../integrations/slack/revocation.ts";
import { addSubscriber, removeSubscriber } from "../../outbox/subscribers.ts";
import type { SlackDeps } from "./deps.ts";

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
  deps: Pick<SlackDeps, "jobCall" | "tokenBox">,
  { sealedToken, botToken, at, ...ids }: NewIntegration,
): Promise<void> {
  // Of two calls at once the second one replaces what the first one has made.
  await sql`select from workspaces where id = ${ids.workspace_id} for no key update`.execute(tx);
  await deleteIntegration(tx, deps, ids.workspace_id);
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
  { jobCall, tokenBox }: Pick<SlackDeps, "jobCall" | "tokenBox">,
  workspaceId: string,
): Promise<boolean> {
  const gone = await tx
    .deleteFrom("slack_integrations")
    .where("workspace_id", "=", workspaceId)
    .returning(["workspace_id", "id", "bot_token"])
    .executeTakeFirst();
  if (gone === undefined) return false;
  await removeSubscriber(tx, { workspaceId, subscriberId: gone.id });
  const sealedToken = sealForRevocation(tokenBox, gone);
  if (sealedToken !== undefined)
    await sql`select ${jobCall("revoke-slack-token", { sealedToken })}`.execute(tx);
  return true;
}

/** Changes a locked integration. */
export async function updateIntegration(
  tx: Db,
  workspaceId: string,
  change: Pick<Row, "is_paused" | "channel_id" | "channel_name" | "updated_at">,
): Promise<void> {
  await tx.updateTable("slack_integrations").set(change).where("workspace_id", "=", workspaceId).execute();
}
