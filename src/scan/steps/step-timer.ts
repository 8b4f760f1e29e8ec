import type { PlanStep } from "../../model/workflow/plan.ts";
import type { VisitState } from "../visit/state.ts";

/**
 * How many milliseconds a message page still has to stay. It may end a second early, because clocks differ. Undefined
 * for other steps.
 */
export function timerLeftMs(step: PlanStep, { openedAtMs }: VisitState, now: Date): number | undefined {
  if (step.action !== "MESSAGE_PAGE" || step.payload.navigationType !== "TIMER") return undefined;
  const shownMs = now.getTime() - openedAtMs;
  const leftMs = step.payload.timerSeconds * 1_000 - shownMs;
  return leftMs <= 1_000 ? 0 : leftMs;
}

/** Returns the step with the time that is left, so that a reload of the page does not start the timer again. */
export function withTimeLeft(step: PlanStep, leftMs: number | undefined): PlanStep {
  if (leftMs === undefined || step.action !== "MESSAGE_PAGE") return step;
  const timerSeconds = Math.max(1, Math.ceil(leftMs / 1_000));
  return { ...step, payload: { ...step.payload, timerSeconds } };
}
