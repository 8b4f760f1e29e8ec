import { stepActions } from "../../model/steps/kinds.ts";
import type { Plan, PlanStep } from "../../model/workflow/plan.ts";
import { idleMs } from "../../workflow/journey.ts";
import type { VisitState } from "../visit/state.ts";

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
  | { readonly kind: "elsewhere" }
  /** The visitor was already sent on. The address is empty when the link led nowhere. */
  | { readonly kind: "sent"; readonly to: string }
  /** The visit is over, and a new one begins. */
  | { readonly kind: "over" }
  /** The link has no such step. */
  | { readonly kind: "unknown" };

/** Tells where a visit stands when one of its steps is requested. Pure. */
export function placeOf(plan: Plan, state: VisitState, stepId: string, now: Date): StepPlace {
  const { outcome, destination, activeAtMs, openedAtMs } = state;
  const isKnown = plan.steps.has(stepId);
  if (outcome === "IN_PROGRESS") {
    if (now.getTime() - activeAtMs >= idleMs) return { kind: "over" };
    if (state.stepId === stepId) return { kind: "here", step: plan.steps.get(stepId) };
    return { kind: isKnown ? "elsewhere" : "unknown" };
  }
  if (!isKnown) return { kind: "unknown" };
  // The step that ended a visit opened at the end of the visit, and a reload does not open it again.
  if (outcome === "ABANDONED" || now.getTime() - openedAtMs >= idleMs) return { kind: "over" };
  if (outcome === "FALLBACK") return { kind: "sent", to: destination };
  const last = plan.steps.get(state.stepId);
  // The exit was deleted, or never had a page.
  if (last === undefined || last.action === "CLIENT_REDIRECT" || stepActions[last.action].kind !== "EXIT")
    return destination === "" ? { kind: "over" } : { kind: "sent", to: destination };
  return last.id === stepId ? { kind: "at-exit", step: last } : { kind: "elsewhere" };
}
