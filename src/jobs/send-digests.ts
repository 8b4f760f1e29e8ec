import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { type DigestPeriod, dayText, duePeriod } from "../model/digest-period.ts";
import { isActiveAdmin } from "../people/active-admin.ts";
import { mailOrder } from "../people/mail-order.ts";
import { type DigestDeps, digestNumbers } from "./digest-numbers.ts";
import { jobCalls } from "./queue.ts";

export interface SendDigestsDeps extends DigestDeps {
  readonly now: () => Date;
  /** How many workspaces are looked up at once. */
  readonly batchSize?: number;
}

/**
 * Queues the digests that are due, one for each active administrator of a workspace. The transaction that queues them also keeps
 * the period, so that each period is told once, whatever ends the job. Ended early, it goes on with its next run.
 */
export async function sendDigests(deps: SendDigestsDeps, signal?: AbortSignal): Promise<void> {
  let failure: unknown;
  for (const { timezone, period } of await findClocks(deps.db)) {
    const due = duePeriod(period, timezone, deps.now());
    if (due === undefined) continue;
    for await (const workspaceId of untoldWorkspaces(deps, timezone, due)) {
      if (signal?.aborted === true) return;
      const told = tell(deps, workspaceId, due);
      // One workspace that fails must not keep the others from their digests.
      await told.catch((error: unknown) => {
        failure = error;
      });
    }
  }
  if (failure !== undefined) throw failure;
}

interface Clock {
  readonly timezone: string;
  readonly period: "week" | "month";
}

/** The workspaces that get digests: nobody looks at a sandbox, a deleted workspace or one that is not used. */
const getsDigests = sql<boolean>`environment = 'live' and deleted_at is null and inactive_since is null
  and digest_frequency <> 'NONE'`;

const periodColumn = sql<string>`case digest_frequency when 'WEEKLY' then 'week' else 'month' end`;

async function findClocks(db: Db): Promise<readonly Clock[]> {
  const { rows } = await sql<{ timezone: string; period: string }>`
    select distinct timezone, ${periodColumn} as period from workspaces where ${getsDigests}`.execute(db);
  return rows.map(({ timezone, period }) => ({ timezone, period: period === "week" ? "week" : "month" }));
}

/** The ids of workspaces that have not been told of the period, in their order. */
async function* untoldWorkspaces(
  { db, batchSize = 100 }: SendDigestsDeps,
  timezone: string,
  { period, lastDay, to }: DigestPeriod,
): AsyncGenerator<string> {
  let after: string | null = null;
  do {
    const { rows }: { rows: { id: string }[] } = await sql<{ id: string }>`
      select id from workspaces w
      where ${getsDigests} and timezone = ${timezone} and ${periodColumn} = ${period} and created_at < ${to}
        and (${after}::uuid is null or id > ${after}::uuid)
        and not exists (select from workspace_digests d
          where d.workspace_id = w.id and d.last_day >= ${dayText(lastDay)}::date)
      order by id limit ${batchSize}`.execute(db);
    for (const { id } of rows) yield id;
    after = rows.length < batchSize ? null : (rows.at(-1)?.id ?? null);
  } while (after !== null);
}

/** The numbers are computed before the transaction, because that may take a while. */
async function tell(deps: SendDigestsDeps, workspaceId: string, period: DigestPeriod): Promise<void> {
  const { db, now } = deps;
  const numbers = await digestNumbers(deps, workspaceId, period);
  await db.transaction().execute((tx) => queueMails(tx, { workspaceId, period, numbers, at: now() }));
}

interface Digest {
  readonly workspaceId: string;
  readonly period: DigestPeriod;
  readonly numbers: Awaited<ReturnType<typeof digestNumbers>>;
  readonly at: Date;
}

async function queueMails(tx: Db, { workspaceId, period, numbers, at }: Digest): Promise<void> {
  const [firstDay, lastDay] = [dayText(period.firstDay), dayText(period.lastDay)];
  const kept = await sql`
    insert into workspace_digests as d (workspace_id, last_day) values (${workspaceId}, ${lastDay}::date)
    on conflict on constraint workspace_digests_pkey do update set last_day = excluded.last_day
      where d.last_day < excluded.last_day
    returning workspace_id`.execute(tx);
  if (kept.rows.length === 0) return;
  const { rows: admins } = await sql<{ id: string; email: string }>`
    select id, email from members where workspace_id = ${workspaceId} and ${isActiveAdmin} order by id`.execute(
    tx,
  );
  if (admins.length === 0) return;
  const facts = {
    period: period.period,
    firstDay,
    lastDay,
    ...numbers,
  };
  const orders = admins.map(({ id, email }) =>
    mailOrder("digest", facts, { workspaceId, memberId: id, email, at }),
  );
  const rows = sql`json_to_recordset(${JSON.stringify(orders)}::json)
    as told ("mailId" text, "workspaceId" text, "memberId" text, kind text, "to" text, facts text)`;
  const payload = {
    mailId: sql`"mailId"`,
    workspaceId: sql`"workspaceId"`,
    memberId: sql`"memberId"`,
    kind: sql`kind`,
    to: sql`"to"`,
    facts: sql`facts`,
  };
  // What people wait for, such as codes to sign in, comes first.
  await sql`select from ${jobCalls("send-mail", payload, { rows, priority: 5 })}`.execute(tx);
}
