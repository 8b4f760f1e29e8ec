import { stepActions } from "../../model/steps/kinds.ts";
import type { AttributeType } from "../../model/workflow/attribute-capture.ts";
import type { DataCollection, Plan } from "../../model/workflow/plan.ts";
import type { Journey } from "../../workflow/journey.ts";
import type { End, Taken, TraceData, Walk } from "../../workflow/walk-result.ts";
import { eachTelling } from "../device/asked-how.ts";
import type { VisitHeaders } from "../device/classify.ts";
import { framedLength, type RecordText } from "./framed-records.ts";
import { ofFew, ofPlan, ofVisit } from "./record-fields.ts";

/** What a request tells about a visit. */
export interface SeenVisit {
  readonly id: Buffer;
  readonly action: "SCAN" | "CLICK";
  readonly level: DataCollection;
  readonly headers: VisitHeaders;
  readonly address: string;
  /** The device cookie that the answer sets, empty at level NONE, and whether the browser already had it. */
  readonly cookie: string;
  readonly cookieWasSent: boolean;
  /** The query of the request, without `?`. */
  readonly query: string;
}

/** Records outlive upgrades: a version is read for as long as a spool may hold it. */
export const recordVersion = 1;

/**
 * Half of what the spool takes. Only traces of conditions can make a record longer, with dozens of long comparisons in
 * dozens of steps. Such a record leaves them out, because otherwise its visit could never be stored.
 */
const recordBytesMax = 512 * 1024;
const headerLengthMax = 1_024;

/** The fields that all visits of a plan share, as the beginning of a JSON array. */
const beginnings = new WeakMap<Plan, string>();

/**
 * The text of a record: a line with a JSON array, then a line for each step on the way. The array has the version first
 * and the other fields in the order of `record-fields.ts`. Visits that met only conditions, and look alike to them,
 * share the lines of steps. Positions instead of names save half the bytes, and 0.6 µs of the redirect.
 */
export function encodeVisit(plan: Plan, visit: SeenVisit, walk: Walk, journey: Journey): RecordText {
  const text = encode(plan, visit, walk, journey);
  // A UTF-16 unit takes at most three bytes, so only long texts have to be measured.
  if ((text.own.length + text.shared.length) * 3 <= recordBytesMax || framedLength(text) <= recordBytesMax)
    return text;
  const taken = walk.taken.filter(({ step }) => stepActions[step.action].kind !== "CONDITION");
  return encode(plan, visit, { ...walk, taken }, journey);
}

function encode(plan: Plan, visit: SeenVisit, walk: Walk, journey: Journey): RecordText {
  let beginning = beginnings.get(plan);
  if (beginning === undefined) {
    const fields: unknown[] = [];
    fields[ofPlan.version] = recordVersion;
    fields[ofPlan.workspaceId] = plan.workspaceId;
    fields[ofPlan.linkId] = plan.linkId;
    fields[ofPlan.entrypoint] = plan.entrypoint;
    fields[ofPlan.entryStepId] = plan.entryStepId;
    beginning = JSON.stringify(fields).slice(0, -1);
    beginnings.set(plan, beginning);
  }
  const few: string[] = [];
  few[ofFew.saved] = savedOf(walk);
  few[ofFew.waiting] =
    journey.outcome === "IN_PROGRESS" ? JSON.stringify([waitingAt(walk.end), visit.query]) : "0";
  const line = `${beginning},${factsOf(visit, walk.end, journey)},${few.join()}]`;
  const shared = conditionsOf(walk);
  return shared === undefined ? { own: line + openedOf(walk), shared: "" } : { own: line, shared };
}

/** The fields that differ from visit to visit, as a part of a JSON array. */
function factsOf(visit: SeenVisit, end: End, journey: Journey): string {
  const { headers } = visit;
  const facts: unknown[] = [];
  facts[ofVisit.level] = visit.level;
  facts[ofVisit.action] = visit.action;
  facts[ofVisit.headers] = classHeadersOf(headers);
  facts[ofVisit.userAgent] = clippedHeader(headers["user-agent"]);
  facts[ofVisit.language] = clippedHeader(headers["accept-language"]);
  facts[ofVisit.address] = visit.address;
  facts[ofVisit.cookie] = visit.cookie;
  facts[ofVisit.cookieWasSent] = visit.cookieWasSent;
  facts[ofVisit.outcome] = journey.outcome;
  facts[ofVisit.destination] = destinationOf(end);
  facts[ofVisit.conversionTracking] = end.kind === "redirect" && end.conversionTracking;
  facts[ofVisit.stepsReached] = journey.stepsReached;
  facts[ofVisit.stepsTotal] = journey.stepsTotal;
  facts[ofVisit.lastStepId] = journey.lastStep?.id ?? "";
  facts[ofVisit.lastStepAction] = journey.lastStep?.action ?? "";
  return JSON.stringify(facts).slice(1, -1);
}

function destinationOf(end: End): string {
  return end.kind === "redirect" || end.kind === "fallback" ? end.to : "";
}

function waitingAt(end: End): string {
  return end.kind === "interaction" ? end.step.id : "";
}

/** The lines of the conditions that a walk has met so far, and what walks met next. */
interface Met {
  readonly lines: string;
  readonly onwards: WeakMap<TraceData, Met>;
  /** What the last walk met next. Mostly, the next walk meets the same. */
  last: { readonly data: TraceData; readonly met: Met } | undefined;
}

/**
 * About how many characters of lines are remembered. Most workflows have few ways, with short lines. When the lines
 * take more, all are forgotten and made again.
 */
const waysLengthMax = 8 * 1024 * 1024;
let waysLength = 0;
let start = metAfter("");

function metAfter(lines: string): Met {
  return { lines, onwards: new WeakMap(), last: undefined };
}

/** The lines of a walk on which only conditions have data. Undefined for any other walk. */
function conditionsOf({ taken }: Walk): string | undefined {
  let met = start;
  for (const one of taken) {
    if (one.data === undefined) continue;
    if (stepActions[one.step.action].kind !== "CONDITION") return undefined;
    if (met.last?.data !== one.data)
      met.last = { data: one.data, met: met.onwards.get(one.data) ?? meet(met, one, one.data) };
    met = met.last.met;
  }
  return met.lines;
}

/** Remembers a way by the data object: a condition gives the same object again and again, and each step has its own. */
function meet(before: Met, one: Taken, data: TraceData): Met {
  const isKnown = before.lines.includes(`\n${one.step.id}`);
  const met = metAfter(isKnown ? before.lines : before.lines + lineOf(one, data));
  before.onwards.set(data, met);
  // A way without lines takes memory, too.
  waysLength += met.lines.length + 200;
  if (waysLength >= waysLengthMax) {
    waysLength = 0;
    start = metAfter("");
  }
  return met;
}

/**
 * A line for each step: its id, whether it is completed, its action, and the JSON of its data, which has no line
 * breaks. A plain redirect has no such line. A step that came up again is kept once, with its last data.
 */
function openedOf({ taken }: Walk): string {
  const found = new Map<string, string>();
  for (const one of taken) if (one.data !== undefined) found.set(one.step.id, lineOf(one, one.data));
  return [...found.values()].join("");
}

function lineOf({ step, isCompleted }: Taken, data: TraceData): string {
  return `\n${step.id}${isCompleted ? 1 : 0}${step.action} ${JSON.stringify(data)}`;
}

type SavedFields = [stepId: string, key: string, value: string, type: AttributeType, setOnce: 0 | 1];

function savedOf({ taken }: Walk): string {
  let found: SavedFields[] | undefined;
  for (const { step, saved } of taken) {
    for (const { key, value, type, setOnce } of saved) {
      found ??= [];
      found.push([step.id, key, value, type, setOnce ? 1 : 0]);
    }
  }
  return found === undefined ? "0" : JSON.stringify(found);
}

function classHeadersOf(headers: VisitHeaders): Record<string, string> | 0 {
  let found: Record<string, string> | 0 = 0;
  eachTelling(headers, (name, value) => {
    found ||= {};
    found[name] = clippedHeader(value);
  });
  return found;
}

/** A header as records keep it. A value longer than any real one is cut. */
export function clippedHeader(value: string | string[] | undefined): string {
  const text = value === undefined ? "" : String(value);
  return text.length > headerLengthMax ? text.slice(0, headerLengthMax) : text;
}
