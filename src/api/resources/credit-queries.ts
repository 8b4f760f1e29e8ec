import { type RawBuilder, sql } from "kysely";
import { quotaMails } from "../../db/admin-mails.ts";
import type { Db } from "../../db/open.ts";
import { monthOf } from "../../model/plans/cycle.ts";
import type { Entitlement } from "../../model/plans/entitlement.ts";
import type { LimitKey } from "../../model/plans/plan-table.ts";

/** What a call costs a workspace. */
export interface Charge {
  readonly credits: number;
  /** The credits of the plan in a cycle. Undefined for a plan whose credits are metered. */
  readonly allowed: number | undefined;
  /** The running cycle; see `Cycle`. */
  readonly cycle: string;
}

/** The constraint that a charge breaks when neither the plan's credits nor the bought ones pay for it. */
export const coveredCheck = "credit_accounts_covered_check";

/** The charge of so many credits. Undefined where they are none, or credits have no end. */
export function chargeOf(
  { limits, timezone }: Pick<Entitlement, "limits" | "timezone">,
  credits: number,
  at: Date,
): Charge | undefined {
  const allowed = limits.PLATFORM_CREDITS;
  if (allowed === "unlimited" || credits === 0) return undefined;
  return { credits, allowed: allowed === "metered" ? undefined : allowed, cycle: monthOf(at, timezone) };
}

/** More credits than any plan has, for those that are metered. */
const boundless = 2 ** 52;

/** Names the text of a statement with this charge, for prepared statements. */
export function nameOfCharge({ credits, allowed = boundless }: Charge): string {
  return credits <= allowed ? "-charged" : "-overcharged";
}

/**
 * Parts of a statement that charge the workspace of `made`, which the statement has just made, and that queue the mails about its
 * limit as `mail`: count these, because PostgreSQL does not run what nothing reads. They take the price from the plan's
 * credits, and the rest from the bought ones. The account of another cycle begins with nothing used, unless that cycle is
 * later: a workspace whose zone changes goes on with its month. Without a row in `made` they charge nothing. They break
 * `coveredCheck` when the credits do not suffice.
 */
export function chargeFor({ credits, allowed = boundless, cycle }: Charge): RawBuilder<unknown> {
  const limit = sql`${allowed}::bigint`;
  const price = sql`${credits}::bigint`;
  const before = sql`(case when excluded.cycle > a.cycle then 0 else a.used end)`;
  const ofPlan = sql`least(${price}, greatest(0, ${limit} - ${before}))`;
  // The first row of a workspace must hold the check even where another row exists.
  const first =
    credits <= allowed
      ? sql`${price}, ${price}, 0, 0`
      : sql`${limit}, ${limit}, ${price} - ${limit}, coalesce((select topup_bought - topup_used
          from credit_accounts known where known.workspace_id = given.workspace_id), 0)`;
  return sql`
      charge as (
        insert into credit_accounts as a (workspace_id, cycle, used, last_charge, topup_used, topup_bought)
        select workspace_id, ${cycle}, ${first} from (select workspace_id from made limit 1) as given
        on conflict (workspace_id) do update set cycle = greatest(a.cycle, excluded.cycle),
          used = ${before} + ${ofPlan}, last_charge = ${ofPlan}, topup_used = a.topup_used + ${price} - ${ofPlan}
        returning workspace_id, used, last_charge),
      mail as (select from ${quotaMails(sql`charge`, {
        workspaceId: sql.ref("charge.workspace_id"),
        limit: sql.lit("PLATFORM_CREDITS" satisfies LimitKey),
        before: sql`(charge.used - charge.last_charge)`,
        after: sql.ref("charge.used"),
        allowed: limit,
      })} as queued)`;
}

/** Whether the credits of a workspace suffice. With `isLocked` they do until the transaction ends. */
export async function isCovered(
  db: Db,
  workspaceId: string,
  { charge, isLocked }: { readonly charge: Charge | undefined; readonly isLocked: boolean },
): Promise<boolean> {
  if (charge?.allowed === undefined) return true;
  const { used, bought } = await findCredits(db, workspaceId, { cycle: charge.cycle, isLocked });
  const ofPlan = BigInt(charge.allowed) - used;
  return (ofPlan > 0n ? ofPlan : 0n) + bought >= BigInt(charge.credits);
}

/**
 * The credits that a workspace has used of its plan in a cycle, and the bought ones that are left. With `isLocked` nobody else
 * charges the workspace until the transaction ends.
 */
async function findCredits(
  db: Db,
  workspaceId: string,
  { cycle, isLocked }: { readonly cycle: string; readonly isLocked: boolean },
): Promise<{ readonly used: bigint; readonly bought: bigint }> {
  const { rows } = await sql<{ used: bigint; bought: bigint }>`
    select case when cycle >= ${cycle} then used else 0 end as used, topup_bought - topup_used as bought
    from credit_accounts where workspace_id = ${workspaceId} ${sql.raw(isLocked ? "for update" : "")}`.execute(
    db,
  );
  return rows[0] ?? { used: 0n, bought: 0n };
}
