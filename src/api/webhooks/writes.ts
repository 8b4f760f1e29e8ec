import { type Insertable, sql, type Updateable } from "kysely";
import type { Webhooks } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import { fail } from "../../lib/errors.ts";
import { addSubscriber, type NewSubscriber, removeSubscriber } from "../../outbox/subscribers.ts";

/** However many webhooks a plan allows: each of them makes a message of every step. */
const webhooksMax = 1_000;

export async function insertWebhook(
  tx: Db,
  webhook: Insertable<Webhooks>,
  subscription: Pick<NewSubscriber, "linkId" | "triggers">,
): Promise<void> {
  const { workspace_id: workspaceId, id: subscriberId } = webhook;
  const { rows } =
    await sql`select from webhooks where workspace_id = ${workspaceId} limit ${webhooksMax}`.execute(tx);
  if (rows.length >= webhooksMax)
    throw fail(
      "RESOURCE_EXHAUSTED",
      "LIMIT_REACHED",
      `a workspace has at most ${webhooksMax} webhooks: delete some`,
    );
  await tx.insertInto("webhooks").values(webhook).execute();
  const at = new Date(webhook.created_at);
  await addSubscriber(tx, {
    workspaceId,
    subscriberId,
    kind: "WEBHOOK",
    status: "ACTIVE",
    ...subscription,
    at,
  });
}

export async function changeWebhook(
  tx: Db,
  { workspace_id, id }: { readonly workspace_id: string; readonly id: string },
  changes: Updateable<Webhooks>,
): Promise<void> {
  await tx
    .updateTable("webhooks")
    .set(changes)
    .where("workspace_id", "=", workspace_id)
    .where("id", "=", id)
    .execute();
}

/** Deletes a webhook; its messages are deleted later. False when there is none. */
export async function deleteWebhook(tx: Db, workspaceId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("webhooks")
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  await removeSubscriber(tx, { workspaceId, subscriberId: id });
  return true;
}
