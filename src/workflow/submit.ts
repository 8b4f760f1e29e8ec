import type { StepAction } from "../model/steps/kinds.ts";
import type { Plan, PlanStep, PlanStepOf } from "../model/workflow/plan.ts";
import { captured, nothingSaved, savesAttributes } from "./capture.ts";
import { stepKinds } from "./steps/kinds.ts";
import type { Answer, Refused, StepKindOf, SubmitDeps, Submitted } from "./steps/step.ts";
import type { KnownAttributes, Visit } from "./visit.ts";
import type { SavedAttribute, TraceData } from "./walk-result.ts";

/** An answer that a step took. */
export interface Accepted {
  readonly kind: "accepted";
  readonly step: PlanStep;
  /** The branch that leads on, for `resume`. Empty for a press on an exit's page, where the visit stays. */
  readonly branchId: string;
  /** Replaces the trace's data. */
  readonly data: TraceData;
  /** What to save to the visitor, in this order: the answers, then what the step captures. */
  readonly saved: readonly SavedAttribute[];
  /** What the step captures, without the answers. */
  readonly captured: readonly SavedAttribute[];
  /** Where a pressed social link leads. Empty elsewhere. */
  readonly to: string;
  /** What the visitor did, in words for people. */
  readonly reason: string;
}

/**
 * Takes an answer at a step. Undefined when there is no such step, or it asks nothing. Callers submit first, then save
 * what comes of the answer, then call `resume` with the attributes that the visitor has by then.
 */
export function submit(
  plan: Plan,
  visit: Visit,
  now: Date,
  stepId: string,
  answer: Answer,
  deps: SubmitDeps,
): Accepted | Refused | undefined {
  const step = plan.steps.get(stepId);
  if (step === undefined) return undefined;
  const submitted = submitTo(step, answer, visit, deps);
  if (submitted?.kind !== "submitted") return submitted;
  const { branchId, data, answers, choice, captures, to, reason } = submitted;
  const capturedHere = captures ? captured(step, plan, visit, now, choice) : nothingSaved;
  const saved = [...(answers.length > 0 && savesAttributes(visit) ? answers : []), ...capturedHere];
  return { kind: "accepted", step, branchId, data, saved, captured: capturedHere, to, reason };
}

function submitTo<Action extends StepAction>(
  step: PlanStepOf<Action>,
  answer: Answer,
  visit: Visit,
  deps: SubmitDeps,
): Submitted | Refused | undefined {
  const kind: StepKindOf<Action> = stepKinds[step.action];
  return kind.submit?.(step, answer, visit, deps);
}

/** The attributes of a visitor after something was saved, as the visitor's record will have them. */
export function withSaved(
  attributes: KnownAttributes | undefined,
  saved: readonly SavedAttribute[],
): KnownAttributes | undefined {
  if (saved.length === 0) return attributes;
  const after = new Map(attributes);
  for (const { key, value, type, setOnce } of saved)
    if (!setOnce || (after.get(key)?.value ?? "") === "")
      // E-mail addresses are kept in lower case.
      after.set(key, { value: key === "$email" ? value.toLowerCase() : value, type });
  return after;
}
