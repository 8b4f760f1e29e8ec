import type { Plan, PlanStep } from "../model/plan.ts";
import { targetUrl } from "../model/redirect-target.ts";
import { type StepAction, stepActions } from "../model/workflow.ts";
import { clientRedirect } from "./steps/client-redirect.ts";
import { linkVisit } from "./steps/link-visit.ts";
import { broken, type Step, type Visit } from "./steps/step.ts";

/** Where a visit ends, and how it got there. */
export interface Outcome {
  /** COMPLETED when an exit was served, FALLBACK when the workflow could not serve one. */
  readonly outcome: "COMPLETED" | "FALLBACK";
  /** The address to send the visitor to; empty for a fallback that leads nowhere. */
  readonly to: string;
  /** The exit; empty for a fallback. */
  readonly exitStepId: string;
  /** Whether `to` has `lbid`. */
  readonly conversionTracking: boolean;
  /** Distinct steps opened, conditions not counted. */
  readonly stepsReached: number;
  /** Steps reached, and the fewest that were missing to an exit. */
  readonly stepsTotal: number;
  /** The step opened last; undefined when the workflow has no entry. */
  readonly lastStep: PlanStep | undefined;
}

/** A walk that passes more conditions goes in a circle. */
const hopsMax = 50;

/**
 * Steps whose behaviour is not built. Nothing writes such steps yet; should one be found in the database all the same,
 * visitors get the link's fallback, as with a broken payload. Each kind is named below, so that one that is added to
 * the workflow's model does not compile here before somebody has decided what it does.
 */
const notServed: Step = () => broken;

const steps = {
  LINK_VISIT: linkVisit,
  CLIENT_REDIRECT: clientRedirect,
  PASSWORD_VERIFY: notServed,
  FORM_SUBMIT: notServed,
  MESSAGE_PAGE: notServed,
  MULTI_LINK: notServed,
  THANK_YOU_PAGE: notServed,
  CONTACT_CARD: notServed,
  SOCIAL_LINKS_PAGE: notServed,
  VISIT_TYPE_CONDITION: notServed,
  VISITOR_DATA_CONDITION: notServed,
  COUNTRY_CONDITION: notServed,
  DAY_OF_WEEK_CONDITION: notServed,
  TIME_OF_DAY_CONDITION: notServed,
  DAY_OF_MONTH_CONDITION: notServed,
  SPECIFIC_DATE_CONDITION: notServed,
  DEVICE_TYPE_CONDITION: notServed,
  DEVICE_PLATFORM_CONDITION: notServed,
  DEVICE_BROWSER_CONDITION: notServed,
  DEVICE_BRAND_CONDITION: notServed,
  DEVICE_ACTOR_CONDITION: notServed,
} as const satisfies Record<StepAction, Step>;

/** Runs a visit through the workflow of a link, from its entry to an exit or the fallback. Pure. */
export function decide(plan: Plan, visit: Visit, now: Date): Outcome {
  let step = plan.steps.get(plan.entryStepId);
  let lastStep: PlanStep | undefined;
  let stepsReached = 0;
  for (let hops = 0; step !== undefined && hops <= hopsMax + 1; hops++) {
    const result = steps[step.action](step, visit, now);
    if (result.kind === "broken") break;
    if (stepActions[step.action].kind !== "CONDITION") {
      // Only the entry can come up twice: every other such step ends the walk.
      if (lastStep === step) break;
      lastStep = step;
      stepsReached += 1;
    }
    if (result.kind === "redirect") {
      const { to, conversionTracking } = result;
      const exitStepId = step.id;
      return {
        outcome: "COMPLETED",
        to,
        exitStepId,
        conversionTracking,
        stepsReached,
        stepsTotal: stepsReached,
        lastStep,
      };
    }
    const nextId = step.next.get(result.branchId);
    step = nextId === undefined ? undefined : plan.steps.get(nextId);
  }
  return {
    outcome: "FALLBACK",
    to: plan.fallback === undefined ? "" : targetUrl(plan.fallback, visit.query, ""),
    exitStepId: "",
    conversionTracking: false,
    stepsReached,
    stepsTotal: stepsReached + (lastStep?.stepsToExit ?? 0),
    lastStep,
  };
}
