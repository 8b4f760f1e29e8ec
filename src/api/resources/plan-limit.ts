import type { MessageInitShape } from "@bufbuild/protobuf";
import { PlanLimitKey, PlanLimitKind, type PlanLimitSchema } from "../../../gen/signpost/v1/plan_limit_pb.js";
import { allowedOf, type Entitlement, limitKinds } from "../../model/plans/entitlement.ts";
import { type Allowed, type LimitKey, limitKeys } from "../../model/plans/plan-table.ts";

/** All limits, in the order of the contract. */
export function toPlanLimits(
  entitlement: Pick<Entitlement, "limits" | "linkCost">,
): MessageInitShape<typeof PlanLimitSchema>[] {
  return limitKeys.map((key) => {
    const allowed = allowedOf(entitlement, key);
    return {
      key: PlanLimitKey[key],
      kind: limitKindOf(key, allowed),
      ...(typeof allowed === "number" && { value: allowed }),
    };
  });
}

export function limitKindOf(key: LimitKey, allowed: Allowed): PlanLimitKind {
  if (allowed === "unlimited") return PlanLimitKind.UNLIMITED;
  return allowed === "metered" ? PlanLimitKind.METERED : PlanLimitKind[limitKinds[key]];
}
