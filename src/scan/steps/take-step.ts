import type { Trier } from "../../db/password-attempts.ts";
import type { Plan, PlanStep } from "../../model/workflow/plan.ts";
import { resume } from "../../workflow/decide.ts";
import { journeyOf } from "../../workflow/journey.ts";
import type { Answer, Refused, SubmitDeps } from "../../workflow/steps/step.ts";
import { type Accepted, submit, withSaved } from "../../workflow/submit.ts";
import type { Visit } from "../../workflow/visit.ts";
import type { SavedAttribute, Walk } from "../../workflow/walk-result.ts";
import type { TakenAnswer } from "../spool/step-record.ts";
import { askedOf } from "../visit/asked.ts";
import type { VisitKey, VisitState } from "../visit/state.ts";
import { ruledVisit, ruleTime } from "../visit/test-clock.ts";
import type { Attempts } from "./attempts.ts";
import { type KnownProfile, nobodyKnown, type SoughtProfile } from "./known-visitor.ts";
import { placeOf } from "./step-place.ts";
import { exitActionOf, traceOf, tracesOf } from "./step-traces.ts";

/** The facts that a request tells about its visitor; see `Visit`. */
export type VisitorFacts = Pick<Visit, "country" | "device">;

/** An answer to a step. The answer is empty when the visitor has to leave a step that the workflow no longer has. */
export interface StepRequest {
  readonly plan: Plan;
  readonly key: VisitKey;
  readonly lbid: string;
  readonly stepId: string;
  readonly answer: Answer;
  /** The client's address, by which wrong passwords are counted. */
  readonly address: string;
  /** The hash of the device cookie that was sent, in hexadecimal; empty for none. */
  readonly cookieHash: string;
  readonly facts: VisitorFacts;
  /** Whether the post comes from a page of this service. The visit's cookie hash and level help to decide. */
  readonly isOwn: (state: VisitState) => boolean;
  readonly now: Date;
}

export interface StepDeps {
  readonly submitDeps: SubmitDeps;
  readonly attempts: Attempts;
  /** Returns what the database knows of a visitor; nothing when the database does not answer in time. */
  readonly profileOf: (sought: SoughtProfile) => Promise<KnownProfile>;
  /** Resolves once the answer is on disk. */
  readonly record: (answer: TakenAnswer, now: Date) => Promise<void>;
}

/** What happens after a visitor has answered a step. */
export type StepResult =
  /** The visitor gets the same page again, and it says what is wrong. */
  | { readonly kind: "page"; readonly step: PlanStep; readonly refused: Refused; readonly state: VisitState }
  /** After too many wrong passwords, the visitor has to wait for `seconds`. */
  | { readonly kind: "wait"; readonly seconds: number }
  /** The visitor goes to the page at which the visit stands. */
  | { readonly kind: "step"; readonly state: VisitState }
  /** The visitor is sent on to an address. It is empty when the link leads nowhere. */
  | { readonly kind: "sent"; readonly to: string; readonly state: VisitState }
  | { readonly kind: "foreign" | "over" | "unknown" };

/** Takes an answer to a step and records it in the spool. The caller takes the answers of one visit one at a time. */
export async function takeStep(deps: StepDeps, request: StepRequest, state: VisitState): Promise<StepResult> {
  const { plan, stepId, isOwn, now } = request;
  const place = placeOf(plan, state, stepId, now);
  if (place.kind === "unknown") return { kind: "unknown" };
  if (!isOwn(state)) return { kind: "foreign" };
  switch (place.kind) {
    case "over":
      return { kind: "over" };
    case "sent":
      return { ...place, state };
    case "elsewhere":
      return { kind: "step", state };
    case "here":
      if (place.step === undefined) return goOn(deps, request, state, undefined);
      return place.step.action === "PASSWORD_VERIFY"
        ? tryPassword(deps, request, state, place.step)
        : answerStep(deps, request, state, place.step);
    case "at-exit":
      return press(deps, request, state);
  }
}

/** Counts a try before the password is compared. Only a wrong try stays counted. */
async function tryPassword(
  deps: StepDeps,
  request: StepRequest,
  state: VisitState,
  step: PlanStep,
): Promise<StepResult> {
  const { key, address, now } = request;
  const trier: Trier = { ...key, stepId: step.id, address };
  const seconds = await deps.attempts.take(trier, now);
  if (seconds > 0) return { kind: "wait", seconds };
  const taken = takenBy(deps, request, state);
  if (taken?.kind !== "refused") await deps.attempts.giveBack(trier, now);
  return answerStep(deps, request, state, step, taken);
}

/** The step's own verdict on the answer; undefined when the step cannot take it. */
function takenBy(
  { submitDeps }: StepDeps,
  request: StepRequest,
  state: VisitState,
): Accepted | Refused | undefined {
  const { plan, stepId, answer } = request;
  const visit = visitOf(request, state, undefined);
  return submit(plan, visit, timeOf(request, state), stepId, answer, submitDeps);
}

/** Takes an answer to the interaction at which the visitor is. */
async function answerStep(
  deps: StepDeps,
  request: StepRequest,
  state: VisitState,
  step: PlanStep,
  taken = takenBy(deps, request, state),
): Promise<StepResult> {
  if (taken === undefined) return { kind: "unknown" };
  if (taken.kind === "refused") return { kind: "page", step, refused: taken, state };
  return goOn(deps, request, state, taken);
}

/** Walks on from an answer, and records what came of it. When the step is gone, `taken` is undefined: the fallback. */
async function goOn(
  { profileOf, record }: StepDeps,
  request: StepRequest,
  state: VisitState,
  taken: Accepted | undefined,
): Promise<StepResult> {
  const { plan, key, stepId, now } = request;
  const saved = [...state.saved, ...(taken?.saved ?? [])];
  const known = await lookUp(profileOf, request, state, saved);
  const typed = known.visitType === undefined ? state : { ...state, visitType: known.visitType };
  const visit = visitOf(request, typed, withSaved(known.attributes, saved));
  const walk = resume(plan, visit, timeOf(request, state), stepId, taken?.branchId ?? "");
  const walkSaved = walk.taken.flatMap((one) => one.saved);
  const after: VisitState = {
    ...typed,
    ...standingOf(walk),
    isTypeKnown: state.isTypeKnown || known.visitType !== undefined,
    answers: state.answers + 1,
    activeAtMs: now.getTime(),
    openedAtMs: now.getTime(),
    saved: askedOf(plan, [...saved, ...walkSaved]),
  };
  const { lastStep, outcome, stepsReached, stepsTotal } = journeyOf(plan, walk, [], stepId);
  await record(
    {
      ...answerOf(key, after),
      outcome,
      exitAction: exitActionOf(walk.end),
      lastStepId: lastStep?.id ?? "",
      stepsAhead: stepsTotal - stepsReached,
      waitsAt: walk.end.kind === "interaction" ? walk.end.step.id : "",
      seenVisitorId: known.visitorId,
      saved: [...(taken?.saved ?? []), ...walkSaved],
      traces: [...(taken === undefined ? [] : [traceOf(taken)]), ...tracesOf(walk)],
    },
    now,
  );
  const { end } = walk;
  if (end.kind === "interaction" || end.kind === "exit-page") return { kind: "step", state: after };
  return { kind: "sent", to: end.to, state: after };
}

/** Asks the database only when the rest of the workflow needs something that the visit does not carry. */
async function lookUp(
  profileOf: StepDeps["profileOf"],
  { plan, key, facts, cookieHash }: StepRequest,
  { level, isTypeKnown }: VisitState,
  saved: readonly SavedAttribute[],
): Promise<KnownProfile> {
  const { visitor, visitType } = plan.needsAfter;
  if (level === "NONE" || !(visitor || (visitType && !isTypeKnown))) return nobodyKnown;
  const known = await profileOf({ ...key, cookieHash, saved });
  const { deviceActor } = facts.device();
  const hasProfile = visitor && deviceActor !== "BOT" && deviceActor !== "AGENT";
  return hasProfile ? known : { ...nobodyKnown, visitType: known.visitType };
}

function standingOf({ end }: Walk): Pick<VisitState, "outcome" | "stepId" | "destination"> {
  switch (end.kind) {
    case "interaction":
      return { outcome: "IN_PROGRESS", stepId: end.step.id, destination: "" };
    case "exit-page":
      return { outcome: "COMPLETED", stepId: end.step.id, destination: "" };
    case "redirect":
      return { outcome: "COMPLETED", stepId: end.step.id, destination: end.to };
    case "fallback":
      return { outcome: "FALLBACK", stepId: "", destination: end.to };
  }
}

/** The fields that every record of a visit's answer has. */
function answerOf(
  { workspaceId, linkId, eventId }: VisitKey,
  { answers, destination, query, level }: VisitState,
) {
  return { workspaceId, linkId, eventId, number: answers, isPress: false, destination, query, level };
}

/** Records a press on the page of an exit. The visit has already ended, and the exit's trace keeps what was pressed. */
async function press(deps: StepDeps, request: StepRequest, state: VisitState): Promise<StepResult> {
  const { key, stepId, now } = request;
  const taken = takenBy(deps, request, state);
  // The page has nothing to press, or the pressed link is gone: the visitor gets the page as it is now.
  if (taken === undefined || taken.kind === "refused") return { kind: "step", state };
  await deps.record(
    {
      ...answerOf(key, state),
      isPress: true,
      outcome: "COMPLETED",
      exitAction: "",
      lastStepId: stepId,
      stepsAhead: 0,
      waitsAt: "",
      seenVisitorId: "",
      saved: taken.saved,
      traces: [traceOf(taken)],
    },
    now,
  );
  return taken.to === "" ? { kind: "step", state } : { kind: "sent", to: taken.to, state };
}

function visitOf(
  { plan, facts, lbid }: StepRequest,
  { query, level, visitType }: VisitState,
  attributes: Visit["attributes"],
): Visit {
  const visit = { ...facts, query, lbid: () => lbid, dataCollection: level, visitType, attributes };
  return ruledVisit(plan, visit);
}

/** The time that the rules of a visit see. A visit with a bad test clock never began. */
function timeOf({ plan, now }: StepRequest, { query }: VisitState): Date {
  return ruleTime(plan, query, now) ?? now;
}
