import { type StepAction, stepActions } from "../model/steps/kinds.ts";
import type { Plan } from "../model/workflow/plan.ts";
import type { Walk } from "./walk-result.ts";

/**
 * How long a visitor may leave a page alone before the visit is over, in milliseconds. The next request then begins a
 * new visit.
 */
export const idleMs = 30 * 60_000;

/** How far a visit has come. */
export interface Journey {
  /** Distinct steps that were opened, without conditions. */
  readonly stepsReached: number;
  /** The steps reached, and the fewest steps that were still missing to an exit. */
  readonly stepsTotal: number;
  /** The last step opened, without conditions. Undefined when there is none, or when it is gone from the workflow. */
  readonly lastStep: { readonly id: string; readonly action: StepAction } | undefined;
  /** COMPLETED when an exit was served, FALLBACK when the workflow could not serve one. */
  readonly outcome: "COMPLETED" | "FALLBACK" | "IN_PROGRESS";
}

/**
 * Where a visit stands after a walk. `opened` has the ids of the steps that were opened before the walk, without
 * conditions. `lastId` is the last of them, for walks that open none.
 */
export function journeyOf(plan: Plan, walk: Walk, opened: readonly string[] = [], lastId = ""): Journey {
  let lastStep = plan.steps.get(lastId);
  const reached = opened.length === 0 ? undefined : new Set(opened);
  let stepsReached = reached?.size ?? 0;
  for (const { step } of walk.taken) {
    if (stepActions[step.action].kind === "CONDITION") continue;
    lastStep = step;
    if (reached?.has(step.id)) continue;
    // Within one walk, no such step comes up twice.
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

/** The ids of the steps that a walk opened, without conditions. */
export function openedOn({ taken }: Walk): string[] {
  return taken.flatMap(({ step }) => (stepActions[step.action].kind === "CONDITION" ? [] : [step.id]));
}
