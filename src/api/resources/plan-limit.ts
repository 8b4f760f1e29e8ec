import type { MessageInitShape } from "@bufbuild/protobuf";
import { PlanLimitKey, PlanLimitKind, type PlanLimitSchema } from "../../../gen/signpost/v1/plan_limit_pb.js";
import { type Allowed, type LimitKey, limitKeys } from "../../model/plans/plan-table.ts";
import { allowedOf, limitKinds, type Standing } from "../../model/plans/standing.ts";

/** All limits, in the order of the contract. */
export function toPlanLimits(
  standing: Pick<Standing, "limits" | "linkCost">,
): MessageInitShape<typeof PlanLimitSchema>[] {
  return limitKeys.map((key) => {
    const allowed = allowedOf(standing, key);
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
