/** The plans, cheapest first. Bare values of the contract's `PricingPlanId`. */
export const planIds = ["FREE", "LIGHT", "PRO", "ENTERPRISE"] as const;
export type PlanId = (typeof planIds)[number];

/** What a plan limits, in the order of the contract's `PlanLimitKey`. */
export const limitKeys = [
  "CUSTOM_DOMAINS",
  "TEAM_MEMBERS",
  "PLATFORM_CREDITS",
  "TRACKED_VISITS",
  "PUBLIC_API_CALLS",
  "WEBHOOKS",
  "ASSISTANT_MESSAGES_PER_MINUTE",
  "LINKS_INCLUDED",
] as const;
export type LimitKey = (typeof limitKeys)[number];

/** The limits that the table sets. The links that are included follow from the credits. */
export type SetLimit = Exclude<LimitKey, "LINKS_INCLUDED">;

/** How much is allowed. What is metered has no limit, but it is counted and billed. */
export type Allowed = number | "unlimited" | "metered";

export type Limits = Readonly<Record<SetLimit, Allowed>>;

export interface PlanTerms {
  readonly name: string;
  readonly limits: Limits;
  /** How many visits are scored in a month. */
  readonly leadScores: number | "unlimited";
  /** Whether visitors' pages do not name the service. */
  readonly brandFreePages: boolean;
  /** How many days back events are shown. */
  readonly historyDays: number | "unlimited";
}

/** All that an operator sets about plans. */
export interface PlanTable {
  /** Whether plans limit live workspaces. Otherwise nothing limits them, and only the caps of sandboxes hold. */
  readonly inForce: boolean;
  readonly linkCreatedCreditCost: number;
  /** The time for which a new workspace has PRO for nothing, and the limits that differ from PRO's meanwhile. */
  readonly trial: { readonly days: number; readonly limits: Partial<Limits> };
  /** The limits of a sponsored workspace that differ from PRO's. */
  readonly sponsored: { readonly limits: Partial<Limits> };
  /** Where to ask for ENTERPRISE. Empty for the service's own address. */
  readonly contactUrl: string;
  readonly plans: Readonly<Record<PlanId, PlanTerms>>;
}

const unlimited: Limits = {
  CUSTOM_DOMAINS: "unlimited",
  TEAM_MEMBERS: "unlimited",
  PLATFORM_CREDITS: "unlimited",
  TRACKED_VISITS: "unlimited",
  PUBLIC_API_CALLS: "unlimited",
  WEBHOOKS: "unlimited",
  ASSISTANT_MESSAGES_PER_MINUTE: "unlimited",
};

/** The terms of a workspace that nothing limits. */
export const unlimitedTerms: PlanTerms = {
  name: "Enterprise",
  limits: unlimited,
  leadScores: "unlimited",
  brandFreePages: true,
  historyDays: "unlimited",
};

/** The table without any configuration. */
export const defaultPlans: PlanTable = {
  inForce: false,
  linkCreatedCreditCost: 2,
  trial: { days: 14, limits: {} },
  sponsored: { limits: {} },
  contactUrl: "",
  plans: {
    FREE: {
      name: "Free",
      limits: {
        CUSTOM_DOMAINS: 0,
        TEAM_MEMBERS: 1,
        PLATFORM_CREDITS: 20,
        TRACKED_VISITS: 1_000,
        PUBLIC_API_CALLS: 1_000,
        WEBHOOKS: 20,
        ASSISTANT_MESSAGES_PER_MINUTE: 3,
      },
      leadScores: 0,
      brandFreePages: false,
      historyDays: 14,
    },
    LIGHT: {
      name: "Light",
      limits: {
        CUSTOM_DOMAINS: 1,
        TEAM_MEMBERS: 3,
        PLATFORM_CREDITS: 100,
        TRACKED_VISITS: 10_000,
        PUBLIC_API_CALLS: 5_000,
        WEBHOOKS: 20,
        ASSISTANT_MESSAGES_PER_MINUTE: 10,
      },
      leadScores: 0,
      brandFreePages: false,
      // Three months have 92 days at most.
      historyDays: 92,
    },
    PRO: {
      name: "Pro",
      limits: {
        CUSTOM_DOMAINS: 5,
        TEAM_MEMBERS: 10,
        PLATFORM_CREDITS: 500,
        TRACKED_VISITS: 100_000,
        PUBLIC_API_CALLS: 10_000,
        WEBHOOKS: 20,
        ASSISTANT_MESSAGES_PER_MINUTE: 20,
      },
      leadScores: 100,
      brandFreePages: true,
      historyDays: "unlimited",
    },
    ENTERPRISE: unlimitedTerms,
  },
};
