import { type StepAction, stepActions } from "../model/steps/kinds.ts";
import type { Plan } from "../model/workflow/plan.ts";
import type { Walk } from "./walk.ts";

/** A visit whose visitor has left a page alone for so long is over, in milliseconds; the next request begins a new one. */
export const idleMs = 30 * 60_000;

/** How far a visit has come. */
export interface Journey {
  /** Distinct steps opened, conditions not counted. */
  readonly stepsReached: number;
  /** Steps reached, and the fewest that were missing to an exit. */
  readonly stepsTotal: number;
  /** The step opened last that is no condition; undefined when there is none, or it is gone from the workflow. */
  readonly lastStep: { readonly id: string; readonly action: StepAction } | undefined;
  /** COMPLETED when an exit was served, FALLBACK when the workflow could not serve one. */
  readonly outcome: "COMPLETED" | "FALLBACK" | "IN_PROGRESS";
}

/**
 * Where a visit stands after a walk. `opened` has the ids of the steps that were opened before it, without conditions;
 * `lastId` is the last of them, for walks that open none.
 */
export function journeyOf(plan: Plan, walk: Walk, opened: readonly string[] = [], lastId = ""): Journey {
  let lastStep = plan.steps.get(lastId);
  const reached = opened.length === 0 ? undefined : new Set(opened);
  let stepsReached = reached?.size ?? 0;
  for (const { step } of walk.taken) {
    if (stepActions[step.action].kind === "CONDITION") continue;
    lastStep = step;
    if (reached?.has(step.id)) continue;
    // Within one walk no such step comes twice.
    stepsReached += 1;
  }
  const { kind } = walk.end;
  return {
    stepsReached,
    stepsTotal: stepsReached + (lastStep?.stepsToExit ?? 0),
    lastStep,
    outcome: kind === "interaction" ? "IN_PROGRESS" : kind === "fallback" ? "FALLBACK" : "COMPLETED",
  };
}

/** The ids of the steps that a walk opened, conditions not counted. */
export function openedOn({ taken }: Walk): string[] {
  return taken.flatMap(({ step }) => (stepActions[step.action].kind === "CONDITION" ? [] : [step.id]));
}
