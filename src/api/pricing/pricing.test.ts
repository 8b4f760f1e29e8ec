import { expect, test } from "vitest";
import { PlanFeature, PricingPlanId } from "../../../gen/signpost/v1/pricing_plan_pb.js";
import { PricingService } from "../../../gen/signpost/v1/pricing_service_pb.js";
import { startApi } from "../../../test/support/start-api.ts";
import { readPlanTable } from "../../model/plans/read-plan-table.ts";

const plans = readPlanTable(
  { trial: { limits: { TRACKED_VISITS: 9_000 } }, contactUrl: "mailto:sales@example.com" },
  true,
  [],
);
const api = await startApi({ deps: { plans } });

test("anybody reads the plans of the configuration, cheapest first, with prices unknown", async () => {
  const answer = await api.rest()("GET", "/v1/pricing/plans");
  expect(answer).toMatchObject({ status: 200, headers: { "cache-control": "public, max-age=300" } });
  expect(answer.json.plans.map(({ id }: { id: string }) => id)).toEqual([
    "PRICING_PLAN_ID_FREE",
    "PRICING_PLAN_ID_LIGHT",
    "PRICING_PLAN_ID_PRO",
    "PRICING_PLAN_ID_ENTERPRISE",
  ]);
  const [free, , pro, enterprise] = answer.json.plans;
  expect(free).toMatchObject({ name: "Free", features: [], prices: [], contactUrl: "" });
  expect(free).not.toHaveProperty("trial");
  expect(free.limits).toContainEqual({
    key: "PLAN_LIMIT_KEY_LINKS_INCLUDED",
    kind: "PLAN_LIMIT_KIND_MONTHLY",
    value: 10,
  });
  expect(pro.trial).toMatchObject({ days: 14, signupUrl: "http://api.test/auth/sign-up" });
  expect(pro.trial.limits).toContainEqual({
    key: "PLAN_LIMIT_KEY_TRACKED_VISITS",
    kind: "PLAN_LIMIT_KIND_MONTHLY",
    value: 9_000,
  });
  expect(enterprise.contactUrl).toBe("mailto:sales@example.com");
  expect(enterprise.limits).toContainEqual({
    key: "PLAN_LIMIT_KEY_PLATFORM_CREDITS",
    kind: "PLAN_LIMIT_KIND_METERED",
  });
  expect(answer.json).toMatchObject({ linkCreatedCreditCost: 2 });
  expect(answer.json).not.toHaveProperty("creditTopup");
  expect(answer.json).not.toHaveProperty("pricesUpdatedAt");
});

test("gRPC tells the same plans", async () => {
  const { plans } = await api.client(PricingService).listPlans({});
  expect(plans.map(({ id }) => id)).toEqual([
    PricingPlanId.FREE,
    PricingPlanId.LIGHT,
    PricingPlanId.PRO,
    PricingPlanId.ENTERPRISE,
  ]);
  expect(plans.map(({ features }) => features)).toEqual([
    [],
    [],
    [PlanFeature.BRAND_FREE_PAGES],
    [PlanFeature.BRAND_FREE_PAGES],
  ]);
  expect(plans[3]?.limits.some(({ value }) => value !== undefined)).toBe(false);
});

test.each(["POST", "PUT", "DELETE"])("%s is not a way to read the plans", async (method) => {
  const answer = await api.rest()(method, "/v1/pricing/plans");
  expect(answer).toMatchObject({ status: 405, json: { error: { codeType: "METHOD_NOT_ALLOWED" } } });
});

test("an invalid token is refused even here", async () => {
  expect((await api.rest("nonsense")("GET", "/v1/pricing/plans")).status).toBe(401);
});
