import type { AllowancesService } from "../../../gen/signpost/v1/allowances_service_pb.js";
import { PlanLimitKey } from "../../../gen/signpost/v1/plan_limit_pb.js";
import { PricingPlanId } from "../../../gen/signpost/v1/pricing_plan_pb.js";
import { invalidArgument } from "../../lib/errors.ts";
import { cycleOf } from "../../model/plans/cycle.ts";
import { limitKinds } from "../../model/plans/entitlement.ts";
import { callerOf, type Handlers, withCheck } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { toPlanLimits } from "../resources/plan-limit.ts";
import { type CountedKey, countedKeys, toAllowance } from "./message.ts";
import { findDismissed, findUses } from "./queries.ts";
import { dismissNotice } from "./writes.ts";

export function allowancesService(
  deps: Pick<Deps, "now" | "entitlements">,
): Handlers<typeof AllowancesService> {
  return {
    async list(_request, context) {
      const { db } = context;
      const { workspaceId, memberId } = callerOf(context);
      const entitlement = await deps.entitlements.of(workspaceId, db);
      const cycle = cycleOf(deps.now(), entitlement.timezone);
      const [uses, dismissed] = await Promise.all([
        findUses(db, {
          workspaceId,
          month: cycle.month,
          // Credits without a limit are not charged.
          linksSince: entitlement.limits.PLATFORM_CREDITS === "unlimited" ? cycle.start : undefined,
        }),
        memberId === undefined ? [] : findDismissed(db, workspaceId, memberId),
      ]);
      return {
        allowances: countedKeys.map((key) => toAllowance(key, { entitlement, uses, cycle, dismissed })),
        limits: toPlanLimits(entitlement),
        plan: PricingPlanId[entitlement.plan],
      };
    },

    dismiss: withCheck(
      ({ key }) =>
        countedKeyOf(key) === undefined
          ? [invalidArgument("key", `nothing is counted for it; give one of ${countedNames.join(", ")}`)]
          : [],
      async ({ key }, context) => {
        const { workspaceId, memberId } = callerOf(context);
        const limit = countedKeyOf(key);
        if (memberId === undefined || limit === undefined) throw new Error("a call was let through");
        const at = deps.now();
        const { timezone } = await deps.entitlements.of(workspaceId, context.db);
        await dismissNotice(context.db, {
          workspace_id: workspaceId,
          member_id: memberId,
          limit_key: limit,
          cycle: limitKinds[limit] === "MONTHLY" ? cycleOf(at, timezone).month : "",
          dismissed_at: at,
        });
        return {};
      },
    ),
  };
}

const countedNames = countedKeys.map((key) => `PLAN_LIMIT_KEY_${key}`);

function countedKeyOf(key: PlanLimitKey): CountedKey | undefined {
  return countedKeys.find((each) => PlanLimitKey[each] === key);
}
