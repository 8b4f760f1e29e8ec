import { type RawBuilder, sql } from "kysely";
import type { QueuedJobs } from "../model/jobs.ts";
import type { MailFacts, MailKind } from "../model/mail.ts";

/**
 * A table expression that queues a mail to every administrator of the workspaces of the webhooks in `rows`, which were
 * just disabled. It takes effect only when a statement reads it.
 */
export function disabledMails(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  const facts: { readonly [Fact in keyof MailFacts["webhook-disabled"]]: RawBuilder<unknown> } = {
    url: sql.ref("h.endpoint_url"),
    reason: sql.ref("d.last_error"),
  };
  const kind: MailKind = "webhook-disabled";
  const payload: { readonly [Field in keyof QueuedJobs["send-mail"]]: RawBuilder<unknown> } = {
    mailId: sql`gen_random_uuid()`,
    workspaceId: sql.ref("m.workspace_id"),
    memberId: sql.ref("m.id"),
    kind: sql.lit(kind),
    to: sql.ref("m.email"),
    facts: sql`${jsonObject(facts)}::text`,
  };
  const task: keyof QueuedJobs = "send-mail";
  return sql`(select graphile_worker.add_job(${sql.lit(task)}, ${jsonObject(payload)})
    from ${rows} d
    join webhooks h on h.workspace_id = d.workspace_id and h.id = d.id
    join members m on m.workspace_id = d.workspace_id and m.role = 'ADMIN' and m.access_revoked_at is null)`;
}

function jsonObject(fields: Readonly<Record<string, RawBuilder<unknown>>>): RawBuilder<unknown> {
  return sql`json_build_object(${sql.join(
    Object.entries(fields).map(([name, value]) => sql`${sql.lit(name)}, ${value}`),
  )})`;
}
