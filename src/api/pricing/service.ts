import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  PlanFeature,
  PricingPlanId,
  type PricingPlanSchema,
} from "../../../gen/signpost/v1/pricing_plan_pb.js";
import type { PricingService } from "../../../gen/signpost/v1/pricing_service_pb.js";
import { type PlanId, planIds } from "../../model/plans/plan-table.ts";
import type { Handlers } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { toPlanLimits } from "../resources/plan-limit.ts";

type PricingDeps = Pick<Deps, "plans" | "baseUrl" | "signUpUrl">;

/** The catalog says what the configuration says. Prices are unknown, because no billing provider is connected. */
export function pricingService(deps: PricingDeps): Handlers<typeof PricingService> {
  return {
    async listPlans() {
      const { plans } = deps;
      return {
        plans: planIds.map((id) => toPlan(id, deps)),
        linkCreatedCreditCost: plans.linkCreatedCreditCost,
      };
    },
  };
}

/** The plan of a trial. */
const trialPlan: PlanId = "PRO";

function toPlan(
  id: PlanId,
  { plans: table, baseUrl, signUpUrl }: PricingDeps,
): MessageInitShape<typeof PricingPlanSchema> {
  const { plans, linkCreatedCreditCost: linkCost, trial, contactUrl, inForce } = table;
  const { name, limits, brandFreePages } = plans[id];
  const hasTrial = id === trialPlan && inForce && trial.days > 0;
  return {
    id: PricingPlanId[id],
    name,
    features: brandFreePages ? [PlanFeature.BRAND_FREE_PAGES] : [],
    limits: toPlanLimits({ limits, linkCost }),
    ...(hasTrial && {
      trial: {
        days: trial.days,
        limits: toPlanLimits({ limits: { ...limits, ...trial.limits }, linkCost }),
        signupOffer: `Try ${name} for ${trial.days} days, free of charge.`,
        signupUrl: signUpUrl,
      },
    }),
    contactUrl: id === "ENTERPRISE" ? contactUrl || baseUrl : "",
  };
}
