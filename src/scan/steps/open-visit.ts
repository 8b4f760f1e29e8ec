import type { Db } from "../../db/open.ts";
import type { Turns } from "../../db/turns.ts";
import { timeOfUuid } from "../../lib/ids.ts";
import type { Arrivals } from "../../lib/limits/arrivals.ts";
import { eventOfLbid } from "../../model/visitors/lbid.ts";
import type { Plan, PlanStep } from "../../model/workflow/plan.ts";
import { cookieHashOf } from "../device/device-keys.ts";
import { pickLanguage } from "../pages/languages.ts";
import { deviceCookie, openVisitCookie, show } from "../pages/respond.ts";
import { stepPage } from "../pages/step-page.ts";
import type { Drain } from "../store/drain.ts";
import type { StepVisit } from "./step-handler.ts";
import { placeOf } from "./step-place.ts";
import { timerLeftMs, withTimeLeft } from "./step-timer.ts";
import { findVisitState, touchVisit, type VisitState } from "./visit-state.ts";

export interface OpenVisitDeps {
  /** By workspace. */
  readonly turns: Turns;
  readonly arrivals: Arrivals;
  readonly drain: Pick<Drain, "catchUp">;
  /** The key of device cookies, in hexadecimal. */
  readonly deviceKey: string;
  readonly now: () => Date;
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Answers a browser that asks for a link of which it has a visit open: with the page at which that visit is. False where
 * there is none, and nothing has been answered: then a new visit begins.
 */
export type GoOn = (request: Pick<StepVisit, "req" | "res" | "origin">, plan: Plan) => Promise<boolean>;

/** How long a visitor waits for the database, and for the visit to get there, in milliseconds; a new visit begins then. */
const lookUpMs = 1_000;
const arrivalMs = 300;

/** Older visits have arrived long ago. */
const arrivalAgeMs = 60_000;

export function createGoOn(deps: OpenVisitDeps): GoOn {
  return async (request, plan) => {
    const { req, res, origin } = request;
    const eventId = eventOfLbid(openVisitCookie(req.headers.cookie));
    const cookie = deviceCookie(req.headers.cookie);
    if (eventId === undefined || cookie === "" || deps.turns.isCrowded(plan.workspaceId)) return false;
    const { workspaceId, environment } = plan;
    const key = { workspaceId, eventId, cookieHash: cookieHashOf(workspaceId, cookie, deps.deviceKey) };
    const now = deps.now();
    const db = deps.turns.of(workspaceId, { patience: () => AbortSignal.timeout(lookUpMs) });
    let state: VisitState | undefined;
    try {
      state = await stateOf(deps, db, key, origin.address, now);
      const step = state && stepAt(plan, state, isReload(req.headers["cache-control"]), now);
      if (state === undefined || step === undefined) return false;
      if (state.underWay !== undefined) await touchVisit(db, state, now);
      const page = stepPage(plan, withTimeLeft(step, timerLeftMs(step, state, now)), {
        lbid: state.lbid,
        language: pickLanguage(req.headers["accept-language"]),
      });
      show(res, page, { isHead: false, cookie, isSandbox: environment === "test" });
      return true;
    } catch (error) {
      deps.onTrouble(error);
      return res.headersSent;
    }
  };
}

/** The visit, unless it is another browser's. A lookup that finds none is charged to who asks. */
async function stateOf(
  { arrivals, drain }: OpenVisitDeps,
  db: Db,
  key: Parameters<typeof findVisitState>[1],
  caller: string,
  now: Date,
): Promise<VisitState | undefined> {
  const find = () => findVisitState(db, key, { locks: false });
  let found = await find();
  if (found === undefined) {
    const mayArrive = Math.abs(now.getTime() - timeOfUuid(key.eventId).getTime()) <= arrivalAgeMs;
    if (mayArrive) await drain.catchUp(arrivalMs);
    const arrived = await arrivals.look({ caller, find, mayArrive: false });
    found = typeof arrived === "object" ? arrived : undefined;
  }
  return found?.hasCookie ? found : undefined;
}

/** The page at which a visit is. One that has ended is gone on with by a reload alone: whoever comes again begins anew. */
function stepAt(plan: Plan, state: VisitState, isReload: boolean, now: Date): PlanStep | undefined {
  const stepId = state.underWay?.stepId ?? (isReload ? state.lastStepId : undefined);
  const place = placeOf(plan, state, stepId ?? "", now);
  return place.kind === "here" || place.kind === "at-exit" ? place.step : undefined;
}

/** What browsers say when somebody asks them to load a page anew. */
function isReload(header: string | undefined): boolean {
  return header === "max-age=0" || header === "no-cache";
}
