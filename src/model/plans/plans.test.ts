import { expect, test } from "vitest";
import { allowedOf, entitlementOf, type WorkspaceFacts } from "./entitlement.ts";
import { defaultPlans, limitKeys } from "./plan-table.ts";
import { readPlanTable } from "./read-plan-table.ts";

const at = new Date("2026-11-22T12:00:00Z");
const facts: WorkspaceFacts = {
  environment: "live",
  subscriptionType: "UNSPECIFIED",
  trialEndsAt: null,
  timezone: "Europe/Berlin",
};

function table(json?: unknown, inForce = true) {
  const problems: string[] = [];
  return { read: readPlanTable(json, inForce, problems), problems };
}

test.each([
  ["UNSPECIFIED", null, "FREE"],
  ["LIGHT_PLAN", null, "LIGHT"],
  ["PRO_PLAN", null, "PRO"],
  ["SPONSORED_PRO", null, "PRO"],
  ["ENTERPRISE_PLAN", null, "ENTERPRISE"],
  ["FREE_TRIAL", new Date(at.getTime() + 1), "PRO"],
  ["FREE_TRIAL", null, "PRO"],
  ["FREE_TRIAL", at, "FREE"],
] as const)(
  "the subscription %s with a trial until %s is the plan %s",
  (subscriptionType, trialEndsAt, plan) => {
    expect(entitlementOf(table().read, { ...facts, subscriptionType, trialEndsAt }, at).plan).toBe(plan);
  },
);

test("without plans in force nothing limits a live workspace, whatever it subscribed to", () => {
  const entitlement = entitlementOf(defaultPlans, facts, at);
  expect(entitlement.plan).toBe("ENTERPRISE");
  expect(limitKeys.map((key) => allowedOf(entitlement, key))).toEqual(limitKeys.map(() => "unlimited"));
  expect(entitlement).toMatchObject({
    leadScores: "unlimited",
    brandFreePages: true,
    timezone: "Europe/Berlin",
  });
});

test.each([true, false])("the caps of a sandbox hold in UTC months, with plans in force: %s", (inForce) => {
  const entitlement = entitlementOf(
    table({ linkCreatedCreditCost: 3 }, inForce).read,
    { ...facts, environment: "test" },
    at,
  );
  expect(entitlement).toMatchObject({ isSandbox: true, timezone: "UTC" });
  expect(entitlement.limits).toMatchObject({
    PLATFORM_CREDITS: 150,
    TRACKED_VISITS: 500,
    PUBLIC_API_CALLS: 1_000,
  });
  expect(allowedOf(entitlement, "LINKS_INCLUDED")).toBe(50);
  expect(entitlement.limits.WEBHOOKS).toBe(inForce ? 20 : "unlimited");
});

test("a trial and a sponsored workspace can be allowed less than PRO", () => {
  const { read, problems } = table({
    trial: { days: 7, limits: { TRACKED_VISITS: 5_000 } },
    sponsored: { limits: { PLATFORM_CREDITS: 40 } },
  });
  expect(problems).toEqual([]);
  const trial = entitlementOf(read, { ...facts, subscriptionType: "FREE_TRIAL", trialEndsAt: null }, at);
  const sponsored = entitlementOf(read, { ...facts, subscriptionType: "SPONSORED_PRO" }, at);
  expect(trial.limits).toMatchObject({ TRACKED_VISITS: 5_000, PLATFORM_CREDITS: 500 });
  expect(allowedOf(sponsored, "LINKS_INCLUDED")).toBe(20);
});

test("ENTERPRISE is metered where plans are in force, and links that cost nothing are unlimited", () => {
  expect(table().read.plans.ENTERPRISE.limits.PLATFORM_CREDITS).toBe("metered");
  expect(table(undefined, false).read.plans.ENTERPRISE.limits.PLATFORM_CREDITS).toBe("unlimited");
  const free = entitlementOf(table({ linkCreatedCreditCost: 0 }).read, facts, at);
  expect(allowedOf(free, "LINKS_INCLUDED")).toBe("unlimited");
});

test.each<[unknown, string]>([
  [[], "PLANS_FILE: the document: an object, not []"],
  [{ plan: {} }, "PLANS_FILE: plan: no such field; there are linkCreatedCreditCost, trial"],
  [{ plans: { GOLD: {} } }, "PLANS_FILE: plans.GOLD: no such field; there are FREE, LIGHT, PRO, ENTERPRISE"],
  [
    { plans: { FREE: { limits: { WEBHOOKS: -1 } } } },
    "PLANS_FILE: plans.FREE.limits.WEBHOOKS: a whole number from 0",
  ],
  [
    { plans: { FREE: { limits: { LINKS_INCLUDED: 5 } } } },
    "PLANS_FILE: plans.FREE.limits.LINKS_INCLUDED: no such field",
  ],
  [
    { plans: { PRO: { limits: { WEBHOOKS: "metered" } } } },
    "PLANS_FILE: plans.PRO.limits.WEBHOOKS: something else",
  ],
  [
    { plans: { PRO: { leadScores: "metered" } } },
    'PLANS_FILE: plans.PRO.leadScores: a number or "unlimited"',
  ],
  [{ plans: { PRO: { brandFreePages: 1 } } }, "PLANS_FILE: plans.PRO.brandFreePages: true or false, not 1"],
  [{ trial: { days: 1.5 } }, "PLANS_FILE: trial.days: a whole number from 0 to 2147483647, not 1.5"],
  [{ contactUrl: null }, "PLANS_FILE: contactUrl: a text, not null"],
])("%j is refused by a sentence that names the field", (json, sentence) => {
  expect(table(json).problems).toEqual([expect.stringContaining(sentence)]);
});
