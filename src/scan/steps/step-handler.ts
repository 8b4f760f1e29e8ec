import type { IncomingMessage, ServerResponse } from "node:http";
import type { Db } from "../../db/open.ts";
import type { Turns } from "../../db/turns.ts";
import type { Origin } from "../../lib/client-address.ts";
import { timeOfUuid } from "../../lib/ids.ts";
import type { Arrivals } from "../../lib/limits/arrivals.ts";
import { lbidParameter } from "../../model/links/redirect-target.ts";
import { eventOfLbid, lbidOfEvent } from "../../model/visitors/lbid.ts";
import type { Plan, PlanStep } from "../../model/workflow/plan.ts";
import { timerParameter } from "../../workflow/answer-fields.ts";
import type { Answer, SubmitDeps } from "../../workflow/steps/step.ts";
import { collect } from "../device/collection.ts";
import { cookieHashOf } from "../device/device-keys.ts";
import type { LazyReader } from "../device/request-reader.ts";
import { pickLanguage } from "../pages/languages.ts";
import { type Notice, notice, tooManyTries } from "../pages/notice.ts";
import { deviceCookie, type Envelope, redirect, seeOther, sendCard, show } from "../pages/respond.ts";
import { type StepPageOptions, stepPage, stepPath } from "../pages/step-page.ts";
import { cardFile } from "../pages/vcard.ts";
import { clippedHeader } from "../spool/record-format.ts";
import type { Drain } from "../store/drain.ts";
import { isOwnPost, readForm } from "./read-form.ts";
import { isStepPassword } from "./step-password.ts";
import { placeOf } from "./step-place.ts";
import { timerLeftMs, withTimeLeft } from "./step-timer.ts";
import { type StepRequest, type StepResult, takeStep } from "./take-step.ts";
import { findVisitState, touchVisit, type VisitKey, type VisitState } from "./visit-state.ts";

/** A request for a step of a link that is there. */
export interface StepVisit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly origin: Origin;
  readonly plan: Plan;
  readonly stepId: string;
  /** Whether the file of a contact card is asked for, in place of its page. */
  readonly isCard: boolean;
  readonly query: string;
}

export interface StepHandlerDeps {
  /** By workspace. */
  readonly turns: Turns;
  readonly arrivals: Arrivals;
  readonly drain: Pick<Drain, "catchUp">;
  readonly reader: LazyReader;
  /** The key of device cookies, in hexadecimal. */
  readonly deviceKey: string;
  /** The key of step passwords. */
  readonly passwordKey: Uint8Array;
  readonly now: () => Date;
}

/** Answers for the steps of visits under way; rejects when the database is away. */
export type StepHandler = (visit: StepVisit) => Promise<void>;

/** How long a request waits for the drain, which may still hold its visit, in milliseconds. */
const arrivalMs = 2_000;

/** Visits older than this, in milliseconds, have reached the database long ago. */
const arrivalAgeMs = 60_000;

/** How long a request may wait for a connection, in milliseconds. */
const turnMs = 5_000;

const retryAfter: Partial<Record<Notice, string[]>> = {
  TOO_MANY_MISSES: ["Retry-After", "60"],
  UNAVAILABLE: ["Retry-After", "1"],
};

/** A visit is marked as active at most once in this time, in milliseconds, however often its page is reloaded. */
const touchMs = 60_000;

const timerAnswer: Answer = new Map([[timerParameter, ["1"]]]);
const noAnswer: Answer = new Map();

export function createStepHandler(deps: StepHandlerDeps): StepHandler {
  return async (visit) => {
    const asked = readRequest(deps, visit);
    if (asked === undefined) return tell(visit, "BAD_REQUEST");
    if (deps.turns.isCrowded(visit.plan.workspaceId)) return tell(visit, "UNAVAILABLE");
    if (visit.req.method === "POST") return answerPost(deps, visit, asked);
    return visit.isCard ? answerCard(deps, visit, asked) : answerGet(deps, visit, asked);
  };
}

/** What every request for a step says. */
interface StepAsked {
  /** The workspace's share of the database. */
  readonly db: Db;
  readonly key: VisitKey;
  readonly eventId: string;
  readonly cookieWasSent: boolean;
  readonly keepsCookie: boolean;
  readonly now: Date;
}

function readRequest(
  { turns, deviceKey, now }: StepHandlerDeps,
  { req, plan, query }: StepVisit,
): StepAsked | undefined {
  const eventId = eventOfLbid(new URLSearchParams(query).get(lbidParameter) ?? "");
  if (eventId === undefined) return undefined;
  const { workspaceId, dataCollection } = plan;
  const cookie = deviceCookie(req.headers.cookie);
  const cookieHash = cookie === "" ? "" : cookieHashOf(workspaceId, cookie, deviceKey);
  return {
    db: turns.of(workspaceId, { patience: () => AbortSignal.timeout(turnMs) }),
    key: { workspaceId, eventId, cookieHash },
    eventId,
    cookieWasSent: cookie !== "",
    keepsCookie: collect(dataCollection, req.headers).cookie,
    now: now(),
  };
}

async function answerGet(deps: StepHandlerDeps, visit: StepVisit, asked: StepAsked): Promise<void> {
  const { plan, stepId, query, req } = visit;
  const state = await arrivedVisit(deps, visit, asked);
  if (state === undefined) return;
  const place = placeOf(plan, state, stepId, asked.now);
  switch (place.kind) {
    case "over":
      return startOver(visit);
    case "sent":
      return send(visit, place.to);
    case "elsewhere":
      return goTo(visit, asked, place.stepId);
    case "at-exit":
      return showStep(visit, asked, place.step);
    case "unknown":
      return tell(visit, "NOT_FOUND");
    case "here":
      break;
  }
  const { step } = place;
  const isHead = req.method === "HEAD";
  if (step === undefined && !isHead) return take(deps, visit, asked, noAnswer);
  if (step === undefined) return tell(visit, "NOT_AVAILABLE");
  const waitMs = timerLeftMs(step, state, asked.now);
  const isTimeOver = new URLSearchParams(query).has(timerParameter) && waitMs === 0;
  if (isTimeOver && !isHead) return take(deps, visit, asked, timerAnswer);
  if (!isHead && isQuiet(state, asked.now)) await touchVisit(asked.db, state, asked.now);
  return showStep(visit, asked, withTimeLeft(step, waitMs));
}

function isQuiet({ underWay }: VisitState, now: Date): boolean {
  return underWay !== undefined && now.getTime() - underWay.activeAt.getTime() > touchMs;
}

/** Sends the file of a contact card to a visitor who has reached the card's page. */
async function answerCard(deps: StepHandlerDeps, visit: StepVisit, asked: StepAsked): Promise<void> {
  const { plan, stepId, res } = visit;
  const state = await arrivedVisit(deps, visit, asked);
  if (state === undefined) return;
  const place = placeOf(plan, state, stepId, asked.now);
  if (place.kind === "over") return startOver(visit);
  if (place.kind === "elsewhere") return goTo(visit, asked, place.stepId);
  if (place.kind !== "at-exit" || place.step.action !== "CONTACT_CARD") return tell(visit, "NOT_FOUND");
  sendCard(res, cardFile(place.step.payload, asked.now), envelopeOf(visit));
}

async function answerPost(deps: StepHandlerDeps, visit: StepVisit, asked: StepAsked): Promise<void> {
  const { req, res } = visit;
  const posted = await readForm(req);
  if ("status" in posted) {
    // Nothing reads the rest of the body.
    if (posted.status === 413) res.once("finish", () => req.destroy());
    return tell(visit, posted.status === 413 ? "TOO_LARGE" : "BAD_REQUEST");
  }
  if ((await arrivedVisit(deps, visit, asked)) === undefined) return;
  return take(deps, visit, asked, posted.answer);
}

async function take(
  deps: StepHandlerDeps,
  visit: StepVisit,
  asked: StepAsked,
  answer: Answer,
): Promise<void> {
  const request = await stepRequest(deps, visit, asked, answer);
  respond(visit, asked, await takeStep(asked.db, submitDepsOf(deps, visit), request), answer);
}

function submitDepsOf(
  { passwordKey: key }: StepHandlerDeps,
  { plan: { workspaceId } }: StepVisit,
): SubmitDeps {
  return { isPassword: (step, attempt) => isStepPassword(step, attempt, { workspaceId, key }) };
}

async function stepRequest(
  { reader }: StepHandlerDeps,
  { req, origin, plan, stepId }: StepVisit,
  { key, keepsCookie, cookieWasSent, now }: StepAsked,
  answer: Answer,
): Promise<StepRequest> {
  const { classify, geography } = reader.peek() ?? (await reader.open());
  const isPost = req.method === "POST";
  return {
    plan,
    key,
    stepId,
    answer,
    address: origin.address,
    facts: {
      country: () => geography.placeOf(origin.address).country,
      device: () => classify(clippedHeader(req.headers["user-agent"]), req.headers),
    },
    isOwn: ({ hasCookie, underWay, isAutomatic }) => {
      if (!isPost) return true;
      // The cookies of bots and agents are not kept either.
      const keeps = keepsCookie && !isAutomatic && underWay?.level !== "NONE";
      return isOwnPost(req.headers.origin, origin, { keepsCookie: keeps, cookieWasSent, hasCookie });
    },
    now,
  };
}

function respond(visit: StepVisit, asked: StepAsked, result: StepResult, answer: Answer): void {
  switch (result.kind) {
    case "page":
      showStep(visit, asked, result.step, { entered: answer, refused: result.refused });
      break;
    case "wait":
      show(visit.res, tooManyTries(languageOf(visit), result.seconds), envelopeOf(visit));
      break;
    case "step":
      goTo(visit, asked, result.stepId);
      break;
    case "done":
      goTo(visit, asked, visit.stepId);
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

function showStep(
  visit: StepVisit,
  { eventId }: StepAsked,
  step: PlanStep,
  again?: StepPageOptions["again"],
): void {
  const options = { lbid: lbidOfEvent(eventId), language: languageOf(visit), ...(again && { again }) };
  show(visit.res, stepPage(visit.plan, step, options), envelopeOf(visit));
}

/** The visit, once its first request has reached the database. Without one, answers the visitor and gives undefined. */
async function arrivedVisit(
  { drain, arrivals }: StepHandlerDeps,
  visit: StepVisit,
  { db, key, now }: StepAsked,
): Promise<VisitState | undefined> {
  const find = () => findVisitState(db, key, { locks: false });
  const mayArrive = Math.abs(now.getTime() - timeOfUuid(key.eventId).getTime()) <= arrivalAgeMs;
  if (mayArrive) {
    const found = await find();
    if (found !== undefined) return found;
    await drain.catchUp(arrivalMs);
  }
  const arrived = await arrivals.look({ caller: visit.origin.address, find, mayArrive });
  if (typeof arrived === "object") return arrived;
  tell(visit, arrived === "missing" ? "NOT_FOUND" : "TOO_MANY_MISSES");
  return undefined;
}

function languageOf({ req }: StepVisit) {
  return pickLanguage(req.headers["accept-language"]);
}

function envelopeOf({ req, plan }: StepVisit): Envelope {
  return { isHead: req.method === "HEAD", cookie: "", isSandbox: plan.environment === "test" };
}

function tell(visit: StepVisit, kind: Notice): void {
  show(visit.res, notice(kind, languageOf(visit)), envelopeOf(visit), retryAfter[kind]);
}

function goTo(visit: StepVisit, { eventId }: StepAsked, stepId: string): void {
  const query = `${lbidParameter}=${lbidOfEvent(eventId)}`;
  seeOther(visit.res, `${stepPath(visit.plan, stepId)}?${query}`, envelopeOf(visit));
}

/** Leads to a new visit, with neither scan marker nor lbid. */
function startOver(visit: StepVisit): void {
  seeOther(visit.res, `/${visit.plan.shortlink}`, envelopeOf(visit));
}

function send(visit: StepVisit, to: string): void {
  if (to === "") tell(visit, "NOT_AVAILABLE");
  else redirect(visit.res, to, envelopeOf(visit));
}
