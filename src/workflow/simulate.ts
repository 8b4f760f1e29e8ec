import { hasScanMarker } from "../model/links/redirect-target.ts";
import type { StepAction } from "../model/steps/kinds.ts";
import type { Plan, PlanStep, PlanStepOf } from "../model/workflow/plan.ts";
import { decide, resume } from "./decide.ts";
import { type Journey, journeyOf, openedOn } from "./journey.ts";
import { beforeLast, showsPreview } from "./preview.ts";
import { stepKinds } from "./steps/kinds.ts";
import type { Answer, Refused, StepKindOf, SubmitDeps } from "./steps/step.ts";
import { type Accepted, submit, withSaved } from "./submit.ts";
import type { Visit } from "./visit.ts";
import type { End, SavedAttribute, Taken, TraceData } from "./walk-result.ts";

/** What a visitor answers at a step. */
export interface StepAnswer {
  readonly stepId: string;
  readonly answer: Answer;
}

/** A step that a simulated visit passed. */
export interface SimulatedStep {
  readonly step: PlanStep;
  /** The branch by which the visit went on. Empty at the step where it stayed. */
  readonly branchId: string;
  readonly reason: string;
  readonly isCompleted: boolean;
  readonly data: TraceData;
  readonly saved: readonly SavedAttribute[];
  /** Answers that the step refused, in this order. */
  readonly refused: readonly Refused[];
}

export interface Simulation {
  readonly path: readonly SimulatedStep[];
  readonly end: End;
  readonly journey: Journey;
  /** Whether the visitor sees a preview instead of the page that asks. */
  readonly isPreview: boolean;
  /** How many answers were left over because no step asked for them. */
  readonly unusedAnswers: number;
}

/**
 * Runs a whole visit: the walk to its first stop, every answer that there is for the step, and on from there. A step
 * that asks again takes the next answer for it. Bots are not asked. Pure. It ends, because every answer is used once.
 */
export function simulate(
  plan: Plan,
  visit: Visit,
  now: Date,
  answers: readonly StepAnswer[],
  deps: SubmitDeps,
): Simulation {
  const unused = [...answers];
  const nextAnswer = (stepId: string) => {
    const place = unused.findIndex((answer) => answer.stepId === stepId);
    return place < 0 ? undefined : unused.splice(place, 1)[0]?.answer;
  };
  const path: SimulatedStep[] = [];
  const opened: string[] = [];
  let here = visit;
  let walk = decide(plan, here, now);
  for (;;) {
    const isPreview = showsPreview(walk, here);
    const journey = journeyOf(plan, isPreview ? beforeLast(walk) : walk, opened, opened.at(-1));
    opened.push(...openedOn(walk));
    const steps = walk.taken.map((taken) => simulated(taken, walk.end, here, plan, now));
    const isPage = walk.end.kind === "interaction" || walk.end.kind === "exit-page";
    const page = isPage ? steps.pop() : undefined;
    const { shown, accepted } =
      page === undefined || isPreview
        ? { shown: page, accepted: undefined }
        : answered(page, plan, here, now, () => nextAnswer(page.step.id), deps);
    if (shown !== undefined) steps.push(shown);
    path.push(...steps);
    if (shown === undefined || accepted === undefined)
      return { path, end: walk.end, journey, isPreview, unusedAnswers: unused.length };
    const saved = steps.flatMap((step) => step.saved);
    here = { ...here, attributes: withSaved(here.attributes, saved) };
    walk = resume(plan, here, now, shown.step.id, accepted.branchId);
  }
}

/** Gives answers to a page until one of them leads on, or until no answer is left. */
function answered(
  page: SimulatedStep,
  plan: Plan,
  visit: Visit,
  now: Date,
  nextAnswer: () => Answer | undefined,
  deps: SubmitDeps,
): { readonly shown: SimulatedStep; readonly accepted: Accepted | undefined } {
  let shown = page;
  for (let given = nextAnswer(); given !== undefined; given = nextAnswer()) {
    const taken = submit(plan, visit, now, shown.step.id, given, deps);
    if (taken?.kind === "refused") shown = { ...shown, refused: [...shown.refused, taken] };
    if (taken?.kind !== "accepted") continue;
    const { branchId, data, reason } = taken;
    const saved = [...shown.saved, ...taken.saved];
    shown = {
      ...shown,
      branchId,
      data,
      saved,
      isCompleted: true,
      reason: leading(shown.step, branchId, reason),
    };
    if (branchId !== "") return { shown, accepted: taken };
  }
  return { shown, accepted: undefined };
}

function simulated(taken: Taken, end: End, visit: Visit, plan: Plan, now: Date): SimulatedStep {
  const { step, branchId, isCompleted, saved } = taken;
  return {
    step,
    branchId,
    reason: leading(step, branchId, explain(step, branchId, visit, plan, now)),
    isCompleted,
    data: taken.data ?? dataOf(step, end, visit, plan, now),
    saved,
    refused: [],
  };
}

function explain<Action extends StepAction>(
  step: PlanStepOf<Action>,
  branchId: string,
  visit: Visit,
  plan: Plan,
  now: Date,
): string {
  const kind: StepKindOf<Action> = stepKinds[step.action];
  return kind.explain(step, branchId, visit, plan, now);
}

function leading(step: PlanStep, branchId: string, reason: string): string {
  return branchId === "" || step.next.has(branchId) ? reason : `${reason}, which leads nowhere`;
}

/** The data of the traces of entry and redirect, which real visits take from the event. */
function dataOf({ action }: PlanStep, end: End, visit: Visit, plan: Plan, now: Date): TraceData {
  if (action === "CLIENT_REDIRECT" && end.kind === "redirect") {
    const { to: destination, conversionTracking } = end;
    return { redirect: { destination, conversionTracking, fallback: false } };
  }
  return {
    entryAccess: {
      accessedAt: now.toISOString(),
      action: hasScanMarker(visit.query) ? "SCAN" : "CLICK",
      entrypoint: plan.entrypoint,
      httpMethod: "GET",
      visitType: visit.visitType,
    },
  };
}
