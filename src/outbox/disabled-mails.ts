import { type RawBuilder, sql } from "kysely";
import { administratorsOf, queueMailTo } from "../db/admin-mails.ts";

/**
 * A table expression that queues a mail to every administrator of the workspaces of the webhooks in `rows`, which were
 * just disabled. It takes effect only when a statement reads it.
 */
export function disabledMails(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  const facts = { url: sql.ref("h.endpoint_url"), reason: sql.ref("d.last_error") };
  return sql`(select ${queueMailTo({ kind: "webhook-disabled", facts })}
    from ${rows} d
    join webhooks h on h.workspace_id = d.workspace_id and h.id = d.id
    ${administratorsOf(sql.ref("d.workspace_id"))})`;
}
