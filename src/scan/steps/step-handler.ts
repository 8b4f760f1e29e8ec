import { timerParameter } from "../../workflow/answer-fields.ts";
import type { Answer } from "../../workflow/steps/step.ts";
import { deviceNames } from "../device/device-keys.ts";
import type { LazyReader } from "../device/request-reader.ts";
import { clippedHeader } from "../spool/record-format.ts";
import type { RecentDevices } from "../visit/recent-devices.ts";
import type { VisitSeals } from "../visit/seal.ts";
import type { VisitState } from "../visit/state.ts";
import type { AskDatabase } from "./ask-database.ts";
import { isOwnPost, readForm } from "./read-form.ts";
import type { RecentVisits } from "./recent-visits.ts";
import { goTo, respond, send, sendCardOf, showStep, startOver, tell } from "./step-answers.ts";
import { isStepPassword } from "./step-password.ts";
import { placeOf } from "./step-place.ts";
import { readRequest, type StepAsked, type StepVisit } from "./step-request.ts";
import { timerLeftMs, withTimeLeft } from "./step-timer.ts";
import { type StoredVisits, touchVisit } from "./stored-visits.ts";
import { type StepDeps, type StepRequest, takeStep } from "./take-step.ts";

export interface StepHandlerDeps extends Omit<StepDeps, "submitDeps"> {
  readonly seals: VisitSeals;
  readonly recent: RecentVisits;
  readonly devices: RecentDevices;
  /** Finds the visits of visitors who come without a seal. */
  readonly stored: StoredVisits;
  readonly ask: AskDatabase;
  readonly reader: LazyReader;
  /** The key of device cookies, in hexadecimal. */
  readonly deviceKey: string;
  /** The key of step passwords. */
  readonly passwordKey: Uint8Array;
  readonly now: () => Date;
}

/** Answers requests for the steps of visits. Rejects when only the database could tell the visit, and it is away. */
export type StepHandler = (visit: StepVisit) => Promise<void>;

/** Page loads of one visit write to the database at most once in this time, in milliseconds. */
const touchMs = 60_000;

const timerAnswer: Answer = new Map([[timerParameter, ["1"]]]);
const noAnswer: Answer = new Map();

export function createStepHandler(deps: StepHandlerDeps): StepHandler {
  return async (visit) => {
    const asked = readRequest(deps, visit);
    if (asked === undefined) return tell(visit, "BAD_REQUEST");
    if (visit.req.method === "POST") return answerPost(deps, visit, asked);
    return withState(deps, visit, asked, (state) =>
      visit.isCard ? answerCard(deps, visit, asked, state) : answerGet(deps, visit, asked, state),
    );
  };
}

/**
 * Reads where the visit stands from the seal that the visitor sent, or else from the database. Undefined when the
 * visitor has already been answered, because the visit was not found.
 */
async function givenState(
  { seals, stored }: StepHandlerDeps,
  visit: StepVisit,
  { key, sealed, cookieHash, now }: StepAsked,
): Promise<VisitState | undefined> {
  if (sealed !== "") {
    const opened = seals.open(key, sealed, now);
    if (opened === undefined) {
      startOver(visit);
      return undefined;
    }
    // The device may have got a new cookie between two pages. Only the database knows both cookies of a device.
    if (visit.req.method !== "POST" || cookieHash === "" || cookieHash === opened.cookieHash) return opened;
  }
  const found = await stored.find(key, { cookieHash, address: visit.origin.address, now });
  if (typeof found === "object") return found;
  tell(visit, found);
  return undefined;
}

/** Waits until earlier requests of the same visit are done, then goes on with the newest state that is known. */
async function withState(
  deps: StepHandlerDeps,
  visit: StepVisit,
  asked: StepAsked,
  use: (state: VisitState) => Promise<void>,
): Promise<void> {
  const given = await givenState(deps, visit, asked);
  if (given === undefined) return;
  const { key } = asked;
  const turn = deps.recent.inTurn(key, () =>
    // The request's own seal tells which device it came from.
    use({ ...deps.recent.newest(key, given), cookieHash: given.cookieHash }),
  );
  if (turn === undefined) tell(visit, "TOO_MANY_MISSES");
  else await turn;
}

async function answerGet(
  deps: StepHandlerDeps,
  visit: StepVisit,
  asked: StepAsked,
  state: VisitState,
): Promise<void> {
  const { plan, stepId, req } = visit;
  const { now, isTimer } = asked;
  const place = placeOf(plan, state, stepId, now);
  switch (place.kind) {
    case "over":
      return startOver(visit);
    case "sent":
      return send(visit, place.to);
    case "elsewhere":
      return goTo(deps.seals, visit, asked, state);
    case "at-exit":
      return showStep(deps.seals, visit, asked, { step: place.step, state });
    case "unknown":
      return tell(visit, "NOT_FOUND");
    case "here":
      break;
  }
  const { step } = place;
  const isHead = req.method === "HEAD";
  if (step === undefined && !isHead) return take(deps, visit, asked, state, noAnswer);
  if (step === undefined) return tell(visit, "NOT_AVAILABLE");
  const waitMs = timerLeftMs(step, state, now);
  if (isTimer && waitMs === 0 && !isHead) return take(deps, visit, asked, state, timerAnswer);
  const seen = isHead ? state : touch(deps, asked, state);
  return showStep(deps.seals, visit, asked, { step: withTimeLeft(step, waitMs), state: seen });
}

/** Notes that the visitor was at the page just now. The visitor does not wait for the database to store this. */
export function touch(
  { recent, ask }: Pick<StepHandlerDeps, "recent" | "ask">,
  { key, now }: Pick<StepAsked, "key" | "now">,
  state: VisitState,
): VisitState {
  const seen = { ...state, activeAtMs: now.getTime() };
  recent.keep(key, seen);
  if (now.getTime() - state.activeAtMs > touchMs) void ask(key.workspaceId, (db) => touchVisit(db, key, now));
  return seen;
}

/** Sends the file of a contact card to a visitor whose visit has reached the card's page. */
async function answerCard(
  { seals }: StepHandlerDeps,
  visit: StepVisit,
  asked: StepAsked,
  state: VisitState,
): Promise<void> {
  const { plan, stepId } = visit;
  const place = placeOf(plan, state, stepId, asked.now);
  if (place.kind === "over") return startOver(visit);
  if (place.kind === "elsewhere") return goTo(seals, visit, asked, state);
  if (place.kind !== "at-exit" || place.step.action !== "CONTACT_CARD") return tell(visit, "NOT_FOUND");
  sendCardOf(visit, place.step.payload, asked.now);
}

async function answerPost(deps: StepHandlerDeps, visit: StepVisit, asked: StepAsked): Promise<void> {
  const { req, res } = visit;
  const posted = await readForm(req);
  if ("status" in posted) {
    // The rest of the body is never read, so the connection ends after the answer.
    if (posted.status === 413) res.once("finish", () => req.destroy());
    return tell(visit, posted.status === 413 ? "TOO_LARGE" : "BAD_REQUEST");
  }
  await withState(deps, visit, asked, (state) => take(deps, visit, asked, state, posted.answer));
}

async function take(
  deps: StepHandlerDeps,
  visit: StepVisit,
  asked: StepAsked,
  state: VisitState,
  answer: Answer,
): Promise<void> {
  const { workspaceId } = visit.plan;
  const submitDeps: StepDeps["submitDeps"] = {
    isPassword: (step, attempt) => isStepPassword(step, attempt, { workspaceId, key: deps.passwordKey }),
  };
  const request = await stepRequest(deps, visit, asked, answer);
  const result = await takeStep({ ...deps, submitDeps, record: remembering(deps, asked) }, request, state);
  if ("state" in result) deps.recent.keep(asked.key, result.state);
  respond(deps.seals, visit, asked, result, answer);
}

/**
 * Marks a device that saved something. If the workflow of its next visit asks, that visit waits until this is stored.
 */
function remembering({ record, devices }: StepHandlerDeps, { cookieHash }: StepAsked): StepDeps["record"] {
  return (answer, now) => {
    if (answer.saved.length > 0) devices.meet(deviceNames({ cookieHash, fingerprint: "" }), now.getTime());
    return record(answer, now);
  };
}

async function stepRequest(
  { reader }: StepHandlerDeps,
  { req, origin, plan, stepId }: StepVisit,
  { key, lbid, keepsCookie, cookieHash, now }: StepAsked,
  answer: Answer,
): Promise<StepRequest> {
  const { classify, geography } = reader.peek() ?? (await reader.open());
  const isPost = req.method === "POST";
  const device = () => classify(clippedHeader(req.headers["user-agent"]), req.headers);
  return {
    plan,
    key,
    lbid,
    stepId,
    answer,
    address: origin.address,
    cookieHash,
    facts: { country: () => geography.placeOf(origin.address).country, device },
    isOwn: (state) => {
      if (!isPost) return true;
      const { deviceActor } = device();
      // Bots and agents keep no cookie, and visits at level NONE have none.
      const keeps = keepsCookie && state.level !== "NONE" && deviceActor !== "BOT" && deviceActor !== "AGENT";
      const cookieWasSent = cookieHash !== "";
      const hasCookie = cookieWasSent && cookieHash === state.cookieHash;
      return isOwnPost(req.headers.origin, origin, { keepsCookie: keeps, cookieWasSent, hasCookie });
    },
    now,
  };
}
