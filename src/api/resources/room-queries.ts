import { sql } from "kysely";
import { lockClasses } from "../../db/locks.ts";
import type { Db } from "../../db/open.ts";
import { limitReached } from "../../model/plans/limit-reached.ts";
import type { Deps } from "../deps.ts";

/** The totals that plans limit, with the tables whose rows they count. */
const tables = {
  TEAM_MEMBERS: "members",
  CUSTOM_DOMAINS: "custom_domains",
  WEBHOOKS: "webhooks",
} as const;

/**
 * Throws PLAN_LIMIT_REACHED unless the plan has room for one more. Takes the transaction that makes the record. Calls
 * that make such records of one workspace take turns until their transactions end, so that a limit is never overstepped.
 * Without a limit it asks nothing.
 */
export async function checkPlanRoom(
  tx: Db,
  { now, entitlements }: Pick<Deps, "now" | "entitlements">,
  workspaceId: string,
  key: keyof typeof tables,
): Promise<void> {
  const entitlement = await entitlements.of(workspaceId, tx);
  const allowed = entitlement.limits[key];
  if (typeof allowed !== "number") return;
  await sql`select pg_advisory_xact_lock(${lockClasses.totals}, hashtext(${`${workspaceId}/${key}`}))`.execute(
    tx,
  );
  const { rows } = await sql<{ present: number }>`
    select count(*)::int as present from ${sql.table(tables[key])} where workspace_id = ${workspaceId}`.execute(
    tx,
  );
  if ((rows[0]?.present ?? 0) >= allowed) throw limitReached(key, entitlement, now());
}
