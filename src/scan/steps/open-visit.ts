import { eventOfLbid } from "../../model/visitors/lbid.ts";
import type { Plan, PlanStep } from "../../model/workflow/plan.ts";
import { cookieHashOf } from "../device/device-keys.ts";
import { deviceCookie, openVisitCookie } from "../pages/respond.ts";
import type { VisitState } from "../visit/state.ts";
import { showStep } from "./step-answers.ts";
import { type StepHandlerDeps, touch } from "./step-handler.ts";
import { placeOf } from "./step-place.ts";
import type { StepVisit } from "./step-request.ts";
import { timerLeftMs, withTimeLeft } from "./step-timer.ts";

export type OpenVisitDeps = Pick<StepHandlerDeps, "seals" | "recent" | "ask" | "deviceKey" | "now">;

/**
 * Answers a browser that asks for a link and has a visit of this link open. The browser's cookie holds the visit's
 * seal, and the answer is the page at which the visit stands. Returns false, and answers nothing, when there is no such
 * visit. Then a new visit begins.
 */
export type GoOn = (request: Pick<StepVisit, "req" | "res" | "origin">, plan: Plan) => boolean;

export function createGoOn(deps: OpenVisitDeps): GoOn {
  return (request, plan) => {
    const { headers } = request.req;
    const open = openVisitCookie(headers.cookie);
    const eventId = open && eventOfLbid(open.lbid);
    const cookie = deviceCookie(headers.cookie);
    if (open === undefined || eventId === undefined || cookie === "") return false;
    const { workspaceId, linkId } = plan;
    const asked = { key: { workspaceId, linkId, eventId }, lbid: open.lbid, now: deps.now() };
    const sealed = deps.seals.open(asked.key, open.sealed, asked.now);
    // The seal must belong to this browser; a copy in another browser opens nothing.
    if (sealed?.cookieHash !== cookieHashOf(workspaceId, cookie, deps.deviceKey)) return false;
    const state = deps.recent.newest(asked.key, sealed);
    const step = stepAt(plan, state, isReload(headers["cache-control"]), asked.now);
    if (step === undefined) return false;
    const seen = state.outcome === "IN_PROGRESS" ? touch(deps, asked, state) : state;
    const visit = { ...request, plan, stepId: step.id, isCard: false, query: "" };
    showStep(deps.seals, visit, asked, {
      step: withTimeLeft(step, timerLeftMs(step, state, asked.now)),
      state: seen,
    });
    return true;
  };
}

/**
 * The page at which a visit stands. Only a reload returns to a visit that has ended; any other request begins a new
 * one.
 */
function stepAt(plan: Plan, state: VisitState, isReload: boolean, now: Date): PlanStep | undefined {
  if (state.outcome !== "IN_PROGRESS" && !isReload) return undefined;
  const place = placeOf(plan, state, state.stepId, now);
  return place.kind === "here" || place.kind === "at-exit" ? place.step : undefined;
}

/** Whether `Cache-Control` has a value that browsers send when somebody reloads a page. */
function isReload(header: string | undefined): boolean {
  return header === "max-age=0" || header === "no-cache";
}
