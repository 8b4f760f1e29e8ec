import { stepActions } from "../../model/steps/kinds.ts";
import type { Plan, PlanStep } from "../../model/workflow/plan.ts";
import { idleMs } from "../../workflow/journey.ts";
import type { VisitState } from "./visit-state.ts";

/** Where a request for a step finds its visit. */
export type StepPlace =
  /**
   * At the interaction that was asked for. `step` is undefined when the interaction is gone from the workflow; then the
   * visit goes on to the fallback.
   */
  | { readonly kind: "here"; readonly step: PlanStep | undefined }
  /** On the page of the exit that was asked for, which the visitor has already seen. */
  | { readonly kind: "at-exit"; readonly step: PlanStep }
  /** At another step. */
  | { readonly kind: "elsewhere"; readonly stepId: string }
  /** Already sent on. The address is empty where that led nowhere. */
  | { readonly kind: "sent"; readonly to: string }
  /** The visit is over, and a new one begins. */
  | { readonly kind: "over" }
  /** No visit of this link, or no step of it. */
  | { readonly kind: "unknown" };

/** Tells where a visit stands when a step of it is asked for. Pure. */
export function placeOf(plan: Plan, state: VisitState | undefined, stepId: string, now: Date): StepPlace {
  if (state === undefined || state.linkId !== plan.linkId) return { kind: "unknown" };
  const { underWay, endedAt, lastStepId, outcome, destination } = state;
  const isKnown = plan.steps.has(stepId);
  if (underWay !== undefined) {
    if (now.getTime() - underWay.activeAt.getTime() >= idleMs) return { kind: "over" };
    if (underWay.stepId === stepId) return { kind: "here", step: plan.steps.get(stepId) };
    return isKnown ? { kind: "elsewhere", stepId: underWay.stepId } : { kind: "unknown" };
  }
  if (!isKnown) return { kind: "unknown" };
  if (endedAt === undefined || outcome === "ABANDONED" || now.getTime() - endedAt.getTime() >= idleMs)
    return { kind: "over" };
  if (outcome === "FALLBACK") return { kind: "sent", to: destination };
  const last = plan.steps.get(lastStepId);
  // The exit was deleted, or never had a page.
  if (last === undefined || last.action === "CLIENT_REDIRECT" || stepActions[last.action].kind !== "EXIT")
    return destination === "" ? { kind: "over" } : { kind: "sent", to: destination };
  return last.id === stepId ? { kind: "at-exit", step: last } : { kind: "elsewhere", stepId: last.id };
}
