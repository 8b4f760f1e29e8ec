import type { PlanStep } from "../../model/plan.ts";

/** What of a visit a step may look at. */
export interface Visit {
  /** The query as the visitor sent it, without `?`. */
  readonly query: string;
  /** The visit's id as parameter `lbid`; empty for visits that leave no event. */
  readonly lbid: () => string;
}

/** What a step does with a visit: lets it on by a branch, ends it, or cannot serve it, which leads to the fallback. */
export type StepResult =
  | { readonly kind: "branch"; readonly branchId: string }
  | { readonly kind: "redirect"; readonly to: string; readonly conversionTracking: boolean }
  | { readonly kind: "broken" };

/** Pure: no clock, no database, no headers. */
export type Step = (step: PlanStep, visit: Visit, now: Date) => StepResult;

export const broken: StepResult = Object.freeze({ kind: "broken" });
