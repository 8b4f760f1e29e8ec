import { visitorLanguage } from "../../hosted/languages.ts";
import { type Notice, notice, tooManyTries } from "../../hosted/notice.ts";
import type { ContactCardPayload } from "../../model/steps/contact-card.ts";
import type { PlanStep } from "../../model/workflow/plan.ts";
import type { Answer } from "../../workflow/steps/step.ts";
import { type Envelope, redirect, seeOther, sendCard, show } from "../pages/respond.ts";
import { type StepPageOptions, stepPage, stepPath } from "../pages/step-page.ts";
import { cardFile } from "../pages/vcard.ts";
import { type VisitSeals, visitQuery } from "../visit/seal.ts";
import type { VisitState } from "../visit/state.ts";
import type { StepAsked, StepVisit } from "./step-request.ts";
import type { StepResult } from "./take-step.ts";

const retryAfter: Partial<Record<Notice, string[]>> = {
  TOO_MANY_MISSES: ["Retry-After", "60"],
  UNAVAILABLE: ["Retry-After", "1"],
};

/** Sends the HTTP response to a visitor who has answered a step. */
export function respond(
  seals: VisitSeals,
  visit: StepVisit,
  asked: StepAsked,
  result: StepResult,
  answer: Answer,
): void {
  switch (result.kind) {
    case "page":
      showStep(seals, visit, asked, result, { entered: answer, refused: result.refused });
      break;
    case "wait":
      show(visit.res, tooManyTries(languageOf(visit), result.seconds), envelopeOf(visit));
      break;
    case "step":
      goTo(seals, visit, asked, result.state);
      break;
    case "sent":
      send(visit, result.to);
      break;
    case "foreign":
      tell(visit, "FORBIDDEN");
      break;
    case "over":
      startOver(visit);
      break;
    case "unknown":
      tell(visit, "NOT_FOUND");
      break;
  }
}

/** Shows the page of a step. The page carries the seal with which its answer comes back. */
export function showStep(
  seals: VisitSeals,
  visit: StepVisit,
  { key, lbid }: Pick<StepAsked, "key" | "lbid">,
  { step, state }: { readonly step: PlanStep; readonly state: VisitState },
  again?: StepPageOptions["again"],
): void {
  const query = visitQuery(lbid, seals.seal(key, state));
  const options = { query, language: languageOf(visit), ...(again && { again }) };
  show(visit.res, stepPage(visit.plan, step, options), envelopeOf(visit));
}

function languageOf({ req }: StepVisit) {
  return visitorLanguage(req.headers["accept-language"]);
}

function envelopeOf({ req, plan }: StepVisit): Envelope {
  return { isHead: req.method === "HEAD", cookie: "", isSandbox: plan.environment === "test" };
}

/** Shows a notice that says why the request got nothing else. */
export function tell(visit: StepVisit, kind: Notice): void {
  show(visit.res, notice(kind, languageOf(visit)), envelopeOf(visit), retryAfter[kind]);
}

/** Redirects to the page at which the visit stands. */
export function goTo(seals: VisitSeals, visit: StepVisit, { key, lbid }: StepAsked, state: VisitState): void {
  const query = visitQuery(lbid, seals.seal(key, state));
  seeOther(visit.res, `${stepPath(visit.plan, state.stepId)}?${query}`, envelopeOf(visit));
}

/** Redirects to the beginning of a new visit, without the scan marker and without an lbid. */
export function startOver(visit: StepVisit): void {
  seeOther(visit.res, `/${visit.plan.shortlink}`, envelopeOf(visit));
}

/** Redirects to the visit's destination. An empty destination shows a notice instead. */
export function send(visit: StepVisit, to: string): void {
  if (to === "") tell(visit, "NOT_AVAILABLE");
  else redirect(visit.res, to, envelopeOf(visit));
}

/** Sends a contact card as a file. */
export function sendCardOf(visit: StepVisit, payload: ContactCardPayload, now: Date): void {
  sendCard(visit.res, cardFile(payload, now), envelopeOf(visit));
}
