import { type RawBuilder, sql } from "kysely";
import type { QueuedJobs } from "../model/jobs.ts";
import type { MailFacts, MailKind } from "../model/mail.ts";

/** A kind of mail, and the expressions of its facts over the rows that it is about. */
export interface AdminMail<Kind extends MailKind & keyof MailFacts> {
  readonly kind: Kind;
  readonly facts: { readonly [Fact in keyof MailFacts[Kind]]: RawBuilder<unknown> };
}

/** The call that queues a mail to the member `m`, whom `administratorsOf` joins. */
export function queueMailTo<Kind extends MailKind & keyof MailFacts>({
  kind,
  facts,
}: AdminMail<Kind>): RawBuilder<unknown> {
  const payload: { readonly [Field in keyof QueuedJobs["send-mail"]]: RawBuilder<unknown> } = {
    mailId: sql`gen_random_uuid()`,
    workspaceId: sql.ref("m.workspace_id"),
    memberId: sql.ref("m.id"),
    kind: sql.lit(kind),
    to: sql.ref("m.email"),
    facts: sql`${jsonObject(facts)}::text`,
  };
  const task: keyof QueuedJobs = "send-mail";
  return sql`graphile_worker.add_job(${sql.lit(task)}, ${jsonObject(payload)})`;
}

/** A join with the administrators of a workspace, who may still come in. */
export function administratorsOf(workspaceId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`join members m on m.workspace_id = ${workspaceId} and m.role = 'ADMIN' and m.access_revoked_at is null`;
}

function jsonObject(fields: Readonly<Record<string, RawBuilder<unknown>>>): RawBuilder<unknown> {
  return sql`json_build_object(${sql.join(
    Object.entries(fields).map(([name, value]) => sql`${sql.lit(name)}, ${value}`),
  )})`;
}

/** The columns of the rows that `quotaMails` reads, by what they mean. */
export interface CrossedColumns {
  readonly workspaceId: RawBuilder<unknown>;
  /** A bare value of `PlanLimitKey`. */
  readonly limit: RawBuilder<unknown>;
  /** The amounts used before and after what is being written. */
  readonly before: RawBuilder<unknown>;
  readonly after: RawBuilder<unknown>;
  /** Null where nothing is limited. */
  readonly allowed: RawBuilder<unknown>;
}

/**
 * A table expression that queues a mail to every administrator of the workspaces in `rows` whose use now reaches 80 or
 * 100 percent of a limit. A write that passes both marks queues one mail, of 100 percent. What is used only grows within
 * a cycle, so a limit's mark is passed once; a mark of a limit that rose meanwhile is passed again. The expression has a
 * row for each mail. It takes effect only when a statement reads it.
 */
export function quotaMails(rows: RawBuilder<unknown>, columns: CrossedColumns): RawBuilder<unknown> {
  const { workspaceId, limit, before, after, allowed } = columns;
  const facts = { limit, percent: sql.ref("mark.percent"), used: after, allowed };
  return sql`(select ${queueMailTo({ kind: "quota", facts })}
    from ${rows}
    cross join lateral (
      select max(percent) as percent from (values (80), (100)) as marks (percent)
      where ${before} * 100 < ${allowed} * percent and ${after} * 100 >= ${allowed} * percent) as mark
    ${administratorsOf(workspaceId)}
    where mark.percent is not null)`;
}
