import { targetUrl } from "../model/links/redirect-target.ts";
import { type StepAction, stepActions } from "../model/steps/kinds.ts";
import type { Plan, PlanStep, PlanStepOf } from "../model/workflow/plan.ts";
import { captured, nothingSaved } from "./capture.ts";
import { stepKinds } from "./steps/kinds.ts";
import type { Entered, StepKindOf } from "./steps/step.ts";
import type { Visit } from "./visit.ts";
import type { End, Taken, Walk } from "./walk-result.ts";

/** A walk that passes more conditions than this ends in the fallback. */
const conditionsMax = 50;

/** Runs a visit through the workflow of a link, from its entry to where it stops. Pure; it always ends. */
export function decide(plan: Plan, visit: Visit, now: Date): Walk {
  return walkFrom(plan.entryStepId, plan, visit, now);
}

/**
 * Goes on by a branch of an interaction that was answered. `visit.attributes` has what has been saved by then,
 * including this answer. A missing step, and a branch that leads nowhere, lead to the fallback.
 */
export function resume(plan: Plan, visit: Visit, now: Date, stepId: string, branchId: string): Walk {
  return walkFrom(plan.steps.get(stepId)?.next.get(branchId) ?? "", plan, visit, now);
}

function walkFrom(firstId: string, plan: Plan, visit: Visit, now: Date): Walk {
  const taken: Taken[] = [];
  let conditions = 0;
  let step = plan.steps.get(firstId);
  while (step !== undefined) {
    const isCondition = stepActions[step.action].kind === "CONDITION";
    if (isCondition) conditions += 1;
    if (isCondition ? conditions > conditionsMax : isCircle(step, taken)) break;
    const entered = enter(step, visit, plan, now);
    if (entered.kind !== "branch") return stop(step, entered, taken, { plan, visit, now });
    const { branchId, data, to } = entered;
    taken.push({
      step,
      branchId,
      data,
      isCompleted: true,
      // A form that lets a visitor on by itself is skipped, and a skipped step saves nothing.
      saved: stepActions[step.action].kind === "ENTRY" ? captured(step, plan, visit, now) : nothingSaved,
    });
    step = to ?? plan.steps.get(step.next.get(branchId) ?? "");
  }
  return { taken, end: fallback(plan, visit) };
}

/**
 * Whether the walk comes back to a step that lets visitors on by itself. The step would let the visitor on again,
 * without end.
 */
function isCircle(step: PlanStep, taken: readonly Taken[]): boolean {
  return taken.some((before) => before.step === step);
}

function enter<Action extends StepAction>(
  step: PlanStepOf<Action>,
  visit: Visit,
  plan: Plan,
  now: Date,
): Entered {
  const kind: StepKindOf<Action> = stepKinds[step.action];
  return kind.enter(step, visit, plan, now);
}

function stop(
  step: PlanStep,
  entered: Exclude<Entered, { kind: "branch" }>,
  taken: Taken[],
  { plan, visit, now }: { readonly plan: Plan; readonly visit: Visit; readonly now: Date },
): Walk {
  const isCompleted = entered.kind !== "interaction";
  const data = entered.kind === "redirect" ? undefined : entered.data;
  const saved = isCompleted ? captured(step, plan, visit, now) : nothingSaved;
  taken.push({ step, branchId: "", data, isCompleted, saved });
  const end: End =
    entered.kind === "redirect"
      ? { kind: "redirect", step, to: entered.to, conversionTracking: entered.conversionTracking }
      : { kind: entered.kind, step };
  return { taken, end };
}

function fallback(plan: Plan, { query }: Visit): End {
  return { kind: "fallback", to: plan.fallback === undefined ? "" : targetUrl(plan.fallback, query, "") };
}
