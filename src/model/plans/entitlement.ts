import {
  type Allowed,
  type LimitKey,
  type Limits,
  type PlanId,
  type PlanTable,
  unlimitedTerms,
} from "./plan-table.ts";

/** Bare values of the contract's `SubscriptionType`. */
export type SubscriptionType =
  | "UNSPECIFIED"
  | "FREE_TRIAL"
  | "SPONSORED_PRO"
  | "PRO_PLAN"
  | "ENTERPRISE_PLAN"
  | "LIGHT_PLAN";

/** What the plan of a workspace follows from. Those of a sandbox are its parent's, except for the environment. */
export interface WorkspaceFacts {
  readonly environment: "live" | "test";
  readonly subscriptionType: SubscriptionType;
  readonly trialEndsAt: Date | null;
  readonly timezone: string;
  /** Whether an agent made the workspace and nobody has claimed it yet. */
  readonly awaitsClaim?: boolean;
}

/** What a workspace is allowed at a moment. */
export interface Entitlement {
  readonly plan: PlanId;
  readonly limits: Limits;
  readonly leadScores: number | "unlimited";
  readonly brandFreePages: boolean;
  readonly historyDays: number | "unlimited";
  readonly linkCost: number;
  readonly isSandbox: boolean;
  /** The zone whose months the monthly limits count in. */
  readonly timezone: string;
}

const planOf: Readonly<Record<SubscriptionType, PlanId>> = {
  UNSPECIFIED: "FREE",
  LIGHT_PLAN: "LIGHT",
  PRO_PLAN: "PRO",
  SPONSORED_PRO: "PRO",
  FREE_TRIAL: "PRO",
  ENTERPRISE_PLAN: "ENTERPRISE",
};

/**
 * The monthly caps of a sandbox; it may also spend the credits that `links` links cost. Workspaces of agents have those of
 * calls and links until they are claimed.
 */
export const sandboxCaps = { apiCalls: 1_000, visits: 500, links: 50 } as const;

function atMost(allowed: Allowed, max: number): number {
  return typeof allowed === "number" ? Math.min(allowed, max) : max;
}

/** What a workspace is allowed. A trial that has ended counts as no subscription. */
export function entitlementOf(table: PlanTable, facts: WorkspaceFacts, at: Date): Entitlement {
  const { environment, trialEndsAt } = facts;
  const isOver = facts.subscriptionType === "FREE_TRIAL" && trialEndsAt !== null && trialEndsAt <= at;
  const subscription = isOver ? "UNSPECIFIED" : facts.subscriptionType;
  const plan = table.inForce ? planOf[subscription] : "ENTERPRISE";
  const { leadScores, brandFreePages, historyDays, limits } = table.inForce
    ? table.plans[plan]
    : unlimitedTerms;
  const isSandbox = environment === "test";
  const linkCredits = sandboxCaps.links * table.linkCreatedCreditCost;
  return {
    plan,
    limits: {
      ...limits,
      ...(table.inForce && subscription === "FREE_TRIAL" && table.trial.limits),
      ...(table.inForce && subscription === "SPONSORED_PRO" && table.sponsored.limits),
      ...(isSandbox && {
        PLATFORM_CREDITS: linkCredits,
        TRACKED_VISITS: sandboxCaps.visits,
        PUBLIC_API_CALLS: sandboxCaps.apiCalls,
      }),
      // Any stranger can have such a workspace, even where nothing limits the others.
      ...(facts.awaitsClaim === true && {
        PLATFORM_CREDITS: atMost(limits.PLATFORM_CREDITS, linkCredits),
        PUBLIC_API_CALLS: atMost(limits.PUBLIC_API_CALLS, sandboxCaps.apiCalls),
      }),
    },
    leadScores,
    brandFreePages,
    historyDays,
    linkCost: table.linkCreatedCreditCost,
    isSandbox,
    timezone: isSandbox ? "UTC" : facts.timezone,
  };
}

/** The time since which events are shown. Undefined where all are. */
export function historyStart({ historyDays }: Pick<Entitlement, "historyDays">, at: Date): Date | undefined {
  return historyDays === "unlimited" ? undefined : new Date(at.getTime() - historyDays * 24 * 60 * 60 * 1000);
}

/** How much of a limit is allowed, with the links that the credits pay for. */
export function allowedOf(
  { limits, linkCost }: Pick<Entitlement, "limits" | "linkCost">,
  key: LimitKey,
): Allowed {
  if (key !== "LINKS_INCLUDED") return limits[key];
  const credits = limits.PLATFORM_CREDITS;
  // Links that cost nothing are not limited by credits.
  return typeof credits !== "number" || linkCost === 0 ? "unlimited" : Math.floor(credits / linkCost);
}

/** Bare values of the contract's `PlanLimitKind` for what has a limit. */
export const limitKinds: Readonly<Record<LimitKey, "TOTAL" | "MONTHLY" | "PER_MINUTE">> = {
  CUSTOM_DOMAINS: "TOTAL",
  TEAM_MEMBERS: "TOTAL",
  PLATFORM_CREDITS: "MONTHLY",
  TRACKED_VISITS: "MONTHLY",
  PUBLIC_API_CALLS: "MONTHLY",
  WEBHOOKS: "TOTAL",
  ASSISTANT_MESSAGES_PER_MINUTE: "PER_MINUTE",
  LINKS_INCLUDED: "MONTHLY",
};
