import { isLostRace, untilUndisturbed } from "../../db/lost-races.ts";
import { type Db, violates } from "../../db/open.ts";
import { returnPasswordAttempt, type Trier, takePasswordAttempt } from "../../db/password-attempts.ts";
import type { Plan, PlanStep } from "../../model/workflow/plan.ts";
import { identifyVisitor } from "../../visitors/identify.ts";
import { scoreVisit } from "../../visitors/score-visit.ts";
import { resume } from "../../workflow/decide.ts";
import { journeyOf } from "../../workflow/journey.ts";
import type { Answer, Refused, SubmitDeps } from "../../workflow/steps/step.ts";
import { type Accepted, submit } from "../../workflow/submit.ts";
import type { Visit } from "../../workflow/visit.ts";
import type { SavedAttribute, Walk } from "../../workflow/walk-result.ts";
import { type StepTrace, writeJourney, writeStepTraces } from "../store/step-writes.ts";
import { fallbackStepId } from "../store/write-events.ts";
import { placeOf } from "./step-place.ts";
import {
  attributesOfVisitor,
  findVisitState,
  holdVisitor,
  openedSteps,
  type VisitKey,
  type VisitState,
} from "./visit-state.ts";

/** What a request says about its visitor; see `Visit`. */
export type VisitorFacts = Pick<Visit, "country" | "device">;

/** An answer to a step. The answer is empty when the step is gone and the visit has to leave it. */
export interface StepRequest {
  readonly plan: Plan;
  readonly key: VisitKey;
  readonly stepId: string;
  readonly answer: Answer;
  /** The address whose wrong passwords are counted. */
  readonly address: string;
  readonly facts: VisitorFacts;
  /** Whether the post comes from one of our pages, judged by the state of the visit. */
  readonly isOwn: (state: VisitState) => boolean;
  readonly now: Date;
}

/** What becomes of a visitor who has answered a step. */
export type StepResult =
  /** The page again, with what is wrong. */
  | { readonly kind: "page"; readonly step: PlanStep; readonly refused: Refused }
  /** Too many wrong passwords: come back in so many seconds. */
  | { readonly kind: "wait"; readonly seconds: number }
  | { readonly kind: "step"; readonly stepId: string }
  /** Sent on; the address is empty where the link leads nowhere. */
  | { readonly kind: "sent"; readonly to: string }
  /** Nothing to tell the visitor: the page stays as it is. */
  | { readonly kind: "done" }
  | { readonly kind: "foreign" | "over" | "unknown" };

/**
 * Takes an answer. A try of a password is counted first, in a statement of its own, so that nobody waits inside a
 * transaction for others who try the same step, and a failed transaction gives no try back.
 */
export async function takeStep(db: Db, deps: SubmitDeps, request: StepRequest): Promise<StepResult> {
  const { now } = request;
  const trier = await trierOf(db, request);
  const seconds = trier === undefined ? 0 : await takePasswordAttempt(db, trier, now);
  if (seconds > 0) return { kind: "wait", seconds };
  const result = await takeInOne(db, deps, request, trier !== undefined);
  // Only a wrong password uses a try up. Any other result gives it back.
  if (trier !== undefined && result.kind !== "page") await returnPasswordAttempt(db, trier, now);
  return result;
}

/** Who tries a password; undefined where no password will be compared. */
async function trierOf(db: Db, request: StepRequest): Promise<Trier | undefined> {
  const { plan, key, stepId, address, isOwn, now } = request;
  if (plan.steps.get(stepId)?.action !== "PASSWORD_VERIFY") return undefined;
  const state = await findVisitState(db, key, { locks: false });
  if (state === undefined || placeOf(plan, state, stepId, now).kind !== "here" || !isOwn(state))
    return undefined;
  const { workspaceId, linkId, eventId } = state;
  return { workspaceId, linkId, stepId, eventId, address };
}

/**
 * Takes an answer in one transaction: traces, journey, the visitor's attributes and identity, and the score of a visit that
 * ends. Requests of one visit wait for each other, so two tabs never answer one step twice. Locks are taken in the order
 * of `src/visitors/visitor-moves.ts`, after that of the visit.
 */
async function takeInOne(
  db: Db,
  deps: SubmitDeps,
  request: StepRequest,
  mayTry: boolean,
): Promise<StepResult> {
  return untilUndisturbed(
    () => db.transaction().execute((tx) => takeOnce(tx, deps, request, mayTry)),
    isRace,
  );
}

/** Whether the transaction lost a race, or another visitor became known by the same e-mail just now. */
function isRace(error: unknown): boolean {
  return isLostRace(error) || violates(error, "visitors_email_key");
}

async function takeOnce(
  tx: Db,
  deps: SubmitDeps,
  request: StepRequest,
  mayTry: boolean,
): Promise<StepResult> {
  const { plan, key, stepId, isOwn, now } = request;
  const state = await findVisitState(tx, key, { locks: true });
  const place = placeOf(plan, state, stepId, now);
  if (state === undefined || place.kind === "unknown") return { kind: "unknown" };
  if (!isOwn(state)) return { kind: "foreign" };
  switch (place.kind) {
    case "over":
      return { kind: "over" };
    case "sent":
      return place;
    case "elsewhere":
      return { kind: "step", stepId: place.stepId };
    case "here":
      if (place.step === undefined) return goOn(tx, request, state, undefined);
      // The visit came here only after tries were counted, so its page is shown first.
      if (place.step.action === "PASSWORD_VERIFY" && !mayTry) return { kind: "step", stepId };
      return answerStep(tx, deps, request, state, place.step);
    case "at-exit":
      return press(tx, deps, request, state);
  }
}

/** An answer to the interaction that the visitor is at. */
async function answerStep(
  tx: Db,
  deps: SubmitDeps,
  request: StepRequest,
  state: VisitState,
  step: PlanStep,
): Promise<StepResult> {
  const { plan, answer, now } = request;
  const visit = await visitOf(tx, request, state);
  const taken = submit(plan, visit, now, step.id, answer, deps);
  if (taken === undefined) return { kind: "unknown" };
  if (taken.kind === "refused") return { kind: "page", step, refused: taken };
  return goOn(tx, request, state, taken);
}

/**
 * Saves what an answer brought, and walks on. Without an answer the step is gone, and the walk ends in the fallback.
 */
async function goOn(
  tx: Db,
  request: StepRequest,
  state: VisitState,
  taken: Accepted | undefined,
): Promise<StepResult> {
  const { plan, stepId, now } = request;
  const opened = await openedSteps(tx, state);
  const before = await save(tx, state, taken?.saved ?? [], now);
  // Conditions write what they see of the visitor into traces. Nobody may delete the visitor, and with it what traces
  // tell, before those are written.
  const here = plan.needsAfter.visitor
    ? { ...before, visitorId: await holdVisitor(tx, before, { alone: savesAnything(plan) }) }
    : before;
  // The visitor may be another one by now, with attributes of their own.
  const visit = await visitOf(tx, request, here);
  const walk = resume(plan, visit, now, stepId, taken?.branchId ?? "");
  const after = await save(
    tx,
    here,
    walk.taken.flatMap(({ saved }) => saved),
    now,
  );
  const traces = [...(taken === undefined ? [] : [traceOf(taken)]), ...tracesOf(walk)];
  const interactions = opened.filter(({ isCondition }) => !isCondition).map((step) => step.stepId);
  // The event is written before its traces, in the order in which the deletion of a visitor locks them.
  await writeJourney(tx, after, { journey: journeyOf(plan, walk, interactions, stepId), end: walk.end }, now);
  await writeStepTraces(tx, after, traces, now);
  const { end } = walk;
  if (end.kind === "interaction") return { kind: "step", stepId: end.step.id };
  await scoreVisit(tx, after, now);
  return end.kind === "exit-page" ? { kind: "step", stepId: end.step.id } : { kind: "sent", to: end.to };
}

function savesAnything({ steps }: Plan): boolean {
  return [...steps.values()].some(({ capture }) => capture !== undefined);
}

/** Takes a press on the page of an exit. The visit has already ended; its trace records what was pressed. */
async function press(tx: Db, deps: SubmitDeps, request: StepRequest, state: VisitState): Promise<StepResult> {
  const { plan, stepId, answer, now } = request;
  const visit = await visitOf(tx, request, state);
  const taken = submit(plan, visit, now, stepId, answer, deps);
  // The page has nothing to press, or the pressed link is gone: it is shown as it is now.
  if (taken === undefined || taken.kind === "refused") return { kind: "step", stepId };
  await save(tx, state, taken.saved, now);
  await writeStepTraces(tx, state, [traceOf(taken)], now);
  return taken.to === "" ? { kind: "done" } : { kind: "sent", to: taken.to };
}

async function visitOf(tx: Db, { facts }: StepRequest, state: VisitState): Promise<Visit> {
  const { underWay, visitorId, visitType } = state;
  return {
    ...facts,
    query: underWay?.query ?? "",
    lbid: () => state.lbid,
    // A visit that ended without a visitor never had one.
    dataCollection: underWay?.level ?? (visitorId === "" ? "NONE" : "BASIC"),
    visitType,
    attributes: visitorId === "" ? undefined : await attributesOfVisitor(tx, state),
  };
}

/** Saves attributes to the visitor. They may identify the visitor as another one, whom the new state names. */
async function save(
  tx: Db,
  state: VisitState,
  saved: readonly SavedAttribute[],
  now: Date,
): Promise<VisitState> {
  if (saved.length === 0 || state.isAutomatic || state.underWay?.level === "NONE") return state;
  const { workspaceId, eventId, deviceId } = state;
  const event = { id: eventId, deviceId, mayAttach: true };
  const identified = await identifyVisitor(tx, { workspaceId, at: now, event, attributes: saved });
  return { ...state, visitorId: identified.visitorId };
}

function traceOf({ step, data, captured }: Accepted): StepTrace {
  return { stepId: step.id, action: step.action, data, isCompleted: true, saved: captured };
}

/** The traces of a walk. The one of a redirect or fallback follows from the walk's end. */
function tracesOf({ taken, end }: Walk): StepTrace[] {
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
