import { type Selectable, sql } from "kysely";
import type { DismissedNotices } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";

/** What a workspace uses of its limits. */
export interface UsesRow {
  readonly domains: bigint;
  readonly newest_domain_at: Date | null;
  readonly members: bigint;
  readonly newest_member_at: Date | null;
  /** The plan's credits that are used in the cycle. */
  readonly credits: bigint;
  readonly topup_left: bigint;
  readonly links: bigint;
  readonly api_calls: bigint;
  /** The counted visits of the cycle, with those that are locked. */
  readonly visits: bigint;
  readonly locked: bigint;
  readonly locked_total: bigint;
}

export interface UsesQuestion {
  readonly workspaceId: string;
  /** The cycle of monthly limits. */
  readonly month: string;
  /** Counts the links that were made since then, with deleted ones; none when undefined. */
  readonly linksSince: Date | undefined;
}

/** Reads what a workspace uses. */
export async function findUses(db: Db, question: UsesQuestion): Promise<UsesRow> {
  const { workspaceId, month, linksSince = null } = question;
  const { rows } = await sql<UsesRow>`
    select (select count(*) from custom_domains where workspace_id = ${workspaceId}) as domains,
      (select max(created_at) from custom_domains where workspace_id = ${workspaceId}) as newest_domain_at,
      (select count(*) from members where workspace_id = ${workspaceId}) as members,
      (select max(created_at) from members where workspace_id = ${workspaceId}) as newest_member_at,
      coalesce(case when account.cycle >= ${month} then account.used end, 0) as credits,
      coalesce(account.topup_bought - account.topup_used, 0) as topup_left,
      -- Each part has an index of its own.
      (select count(*) from links where workspace_id = ${workspaceId} and created_at >= ${linksSince}::timestamptz
          and deleted_at is null)
        + (select count(*) from links where workspace_id = ${workspaceId} and created_at >= ${linksSince}::timestamptz
          and deleted_at is not null) as links,
      coalesce(cycles.api_calls, 0) as api_calls, coalesce(cycles.visits, 0) as visits,
      coalesce(cycles.locked, 0) as locked, coalesce(cycles.locked_total, 0) as locked_total
    from (select sum(used) filter (where limit_key = 'PUBLIC_API_CALLS' and cycle = ${month})::bigint as api_calls,
        sum(used) filter (where limit_key = 'TRACKED_VISITS' and cycle = ${month})::bigint as visits,
        sum(locked) filter (where limit_key = 'TRACKED_VISITS' and cycle = ${month})::bigint as locked,
        sum(locked)::bigint as locked_total
      from allowance_cycles where workspace_id = ${workspaceId}) as cycles
    left join credit_accounts account on account.workspace_id = ${workspaceId}`.execute(db);
  const [uses] = rows;
  if (uses === undefined) throw new Error("an aggregate gave no row");
  return uses;
}

export type NoticeRow = Pick<Selectable<DismissedNotices>, "limit_key" | "cycle" | "dismissed_at">;

export function findDismissed(db: Db, workspaceId: string, memberId: string): Promise<NoticeRow[]> {
  return db
    .selectFrom("dismissed_notices")
    .select(["limit_key", "cycle", "dismissed_at"])
    .where("workspace_id", "=", workspaceId)
    .where("member_id", "=", memberId)
    .execute();
}
