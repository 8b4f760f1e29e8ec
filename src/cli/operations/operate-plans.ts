import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { tellPlanChanges } from "../../db/tell-plan-changes.ts";
import { isUuid } from "../../lib/ids.ts";
import type { SubscriptionType } from "../../model/plans/entitlement.ts";
import { type PlanId, planIds } from "../../model/plans/plan-table.ts";
import type { Config } from "../../service/config.ts";
import { UsageError } from "../outcome.ts";
import { withDatabase } from "./operate.ts";

const subscriptions: Readonly<Record<PlanId, SubscriptionType>> = {
  FREE: "UNSPECIFIED",
  LIGHT: "LIGHT_PLAN",
  PRO: "PRO_PLAN",
  ENTERPRISE: "ENTERPRISE_PLAN",
};

/** Puts a workspace on a plan, which ends its trial. */
export async function setPlan(config: Config, workspaceId: string, name: string): Promise<string> {
  const plan = planIds.find((id) => id === name);
  if (plan === undefined) throw new UsageError(`--plan: one of ${planIds.join(", ")}, not "${name}"`);
  return withDatabase(config, async ({ db }) => {
    await checkWorkspace(db, workspaceId);
    await db.transaction().execute(async (tx) => {
      await tx
        .updateTable("workspaces")
        .set({ subscription_type: subscriptions[plan], trial_ends_at: null, updated_at: new Date() })
        .where("id", "=", workspaceId)
        .execute();
      await tellPlanChanges(tx, [workspaceId]);
    });
    const effect = config.plans.inForce ? "is effective within 5 s" : "has no effect before PLANS is on";
    return `workspace ${workspaceId} is on the plan ${plan}, which ${effect}`;
  });
}

const creditsMax = 1_000_000_000;

/** Adds bought credits, which pay once the plan's are used up. */
export async function addCredits(config: Config, workspaceId: string, count: string): Promise<string> {
  const credits = Number(count);
  if (!/^\d{1,10}$/.test(count) || credits < 1 || credits > creditsMax)
    throw new UsageError(`--credits: a whole number from 1 to ${creditsMax}, not "${count}"`);
  return withDatabase(config, async ({ db }) => {
    await checkWorkspace(db, workspaceId);
    // A new account's cycle is empty, which comes before every month: the first charge begins the workspace's own.
    const { rows } = await sql<{ left: bigint }>`
      insert into credit_accounts as a (workspace_id, cycle, used, last_charge, topup_bought)
      values (${workspaceId}, '', 0, 0, ${credits})
      on conflict (workspace_id) do update set topup_bought = a.topup_bought + excluded.topup_bought
      returning topup_bought - topup_used as left`.execute(db);
    return `workspace ${workspaceId} has ${rows[0]?.left} bought credits left`;
  });
}

async function checkWorkspace(db: Db, workspaceId: string): Promise<void> {
  if (!isUuid(workspaceId)) throw new UsageError(`"${workspaceId}" is no workspace id`);
  const workspace = await db
    .selectFrom("workspaces")
    .select("environment")
    .where("id", "=", workspaceId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (workspace === undefined) throw new Error(`there is no workspace ${workspaceId}`);
  if (workspace.environment === "test")
    throw new Error(
      `${workspaceId} is a sandbox, which has the plan of its workspace and cannot buy credits`,
    );
}
