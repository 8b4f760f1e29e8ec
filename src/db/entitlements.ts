import { type Selectable, sql } from "kysely";
import type { Workspaces } from "../../gen/database.ts";
import { lruCache } from "../lib/lru-cache.ts";
import { type Entitlement, entitlementOf, type WorkspaceFacts } from "../model/plans/entitlement.ts";
import type { PlanTable } from "../model/plans/plan-table.ts";
import { plainArray } from "./array-literal.ts";
import type { Db } from "./open.ts";
import { prepared } from "./prepared.ts";

/** What workspaces are allowed, from memory where it is known. */
export interface Entitlements {
  /**
   * What a workspace is allowed. Reads it through `db`, which may be a transaction, when it is not known or too old: a
   * change of plan is effective within 5 s.
   */
  of(workspaceId: string, db: Db): Promise<Entitlement>;
  /** The same without waiting; undefined when it would have to be read. */
  known(workspaceId: string, at: Date): Entitlement | undefined;
}

/** How long facts are used, in milliseconds. Without plans in force, only a timezone or a claim changes them. */
const ageMsMax = { inForce: 5_000, otherwise: 60_000 };
const workspacesMax = 10_000;

export function createEntitlements({
  plans,
  now,
}: {
  readonly plans: PlanTable;
  readonly now: () => Date;
}): Entitlements {
  const ageMax = plans.inForce ? ageMsMax.inForce : ageMsMax.otherwise;
  const cache = lruCache<{ readonly entitlement: Entitlement; readonly readAtMs: number }>(workspacesMax);

  function known(workspaceId: string, at: Date): Entitlement | undefined {
    const entry = cache.get(workspaceId);
    if (entry === undefined || Math.abs(at.getTime() - entry.readAtMs) > ageMax) return undefined;
    return entry.entitlement;
  }

  return {
    known,
    async of(workspaceId, db) {
      const at = now();
      const found = known(workspaceId, at);
      if (found !== undefined) return found;
      const facts = (await findWorkspaceFacts(db, [workspaceId])).get(workspaceId) ?? nothingKnown;
      const entitlement = entitlementOf(plans, facts, at);
      cache.set(workspaceId, { entitlement, readAtMs: at.getTime() });
      return entitlement;
    },
  };
}

/** The facts of a workspace that is being deleted. */
const nothingKnown: WorkspaceFacts = {
  environment: "live",
  subscriptionType: "UNSPECIFIED",
  trialEndsAt: null,
  timezone: "UTC",
};

type FactsRow = Pick<
  Selectable<Workspaces>,
  "id" | "environment" | "subscription_type" | "trial_ends_at" | "timezone" | "awaits_claim"
>;

/** What the plans of workspaces follow from. A sandbox has the subscription of its parent. */
export async function findWorkspaceFacts(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, WorkspaceFacts>> {
  const statement = sql<FactsRow>`
    select w.id, w.environment, w.timezone, w.awaits_claim, coalesce(p.subscription_type, w.subscription_type) as subscription_type,
      case when p.id is null then w.trial_ends_at else p.trial_ends_at end as trial_ends_at
    from workspaces w left join workspaces p on p.id = w.parent_workspace_id
    where w.id = any(${plainArray(ids)}::uuid[])`;
  const { rows } = await db.executeQuery(prepared("find-workspace-facts", statement.compile(db)));
  return new Map(
    rows.map(({ id, environment, subscription_type, trial_ends_at, timezone, awaits_claim }) => [
      id,
      {
        ...{ environment, subscriptionType: subscription_type, trialEndsAt: trial_ends_at, timezone },
        awaitsClaim: awaits_claim,
      },
    ]),
  );
}
