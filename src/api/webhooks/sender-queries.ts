import { type Selectable, sql } from "kysely";
import type { Webhooks } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import type { SubscriberKey } from "../../outbox/sender.ts";

/** Where the messages of a webhook go, and what signs them. */
export interface Target
  extends Pick<
    Selectable<Webhooks>,
    "workspace_id" | "id" | "endpoint_url" | "secret" | "previous_secret" | "previous_secret_until"
  > {
  readonly is_sandbox: boolean;
}

/** The targets of these webhooks; deleted ones are left out. */
export async function findTargets(db: Db, webhooks: readonly SubscriberKey[]): Promise<Target[]> {
  const { rows } = await sql<Target>`
    select w.workspace_id, w.id, w.endpoint_url, w.secret, w.previous_secret, w.previous_secret_until,
      k.environment = 'test' as is_sandbox
    from unnest(${webhooks.map(({ workspaceId }) => workspaceId)}::uuid[],
      ${webhooks.map(({ subscriberId }) => subscriberId)}::uuid[]) as asked (workspace_id, id)
    join webhooks w on w.workspace_id = asked.workspace_id and w.id = asked.id
    join workspaces k on k.id = w.workspace_id`.execute(db);
  return rows;
}
