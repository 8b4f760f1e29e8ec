import type { StepAction } from "../../model/steps/kinds.ts";
import { fallbackStepId } from "../../model/workflow/workflow.ts";
import type { Accepted } from "../../workflow/submit.ts";
import type { End, Walk } from "../../workflow/walk-result.ts";
import type { StepTrace } from "../spool/step-record.ts";

/** The trace of a step that took an answer. */
export function traceOf({ step, data, captured }: Accepted): StepTrace {
  return { stepId: step.id, action: step.action, data, isCompleted: true, saved: captured };
}

/** The traces of a walk. The end of the walk gives the trace of a redirect or of a fallback. */
export function tracesOf({ taken, end }: Walk): StepTrace[] {
  const traces = taken.flatMap(({ step, data, isCompleted, saved }): StepTrace[] =>
    data === undefined ? [] : [{ stepId: step.id, action: step.action, data, isCompleted, saved }],
  );
  if (end.kind !== "redirect" && end.kind !== "fallback") return traces;
  const fallback = end.kind === "fallback";
  const conversionTracking = !fallback && end.conversionTracking;
  const sent: StepTrace = {
    stepId: fallback ? fallbackStepId : end.step.id,
    action: "CLIENT_REDIRECT",
    data: { redirect: { destination: end.to, conversionTracking, fallback } },
    isCompleted: true,
    saved: taken.findLast(({ step }) => end.kind === "redirect" && step === end.step)?.saved ?? [],
  };
  return [...traces, sent];
}

/**
 * The action that ends a visit; empty for a visit under way. A fallback counts as a redirect, even if it leads nowhere.
 */
export function exitActionOf(end: End): StepAction | "" {
  if (end.kind === "interaction") return "";
  return end.kind === "exit-page" ? end.step.action : "CLIENT_REDIRECT";
}
