import type { StepAction } from "../../model/steps/kinds.ts";
import type { DataCollection } from "../../model/workflow/plan.ts";
import type { SavedAttribute } from "../../workflow/walk-result.ts";
import type { VisitHeaders } from "../device/classify.ts";
import { count, list, oneOf, stepAction, string, uuid, uuidOrNone } from "./field-values.ts";
import { type RawRecord, textOf } from "./framed-records.ts";
import { fewStart, fieldCount, ofFew, ofPlan, ofVisit, visitStart } from "./record-fields.ts";
import { recordVersion } from "./record-format.ts";
import { textOfId } from "./visit-id.ts";

/**
 * A step that was opened on the way. The entry and a redirect have no such entry, because the rest of the record tells
 * them.
 */
export interface RecordedStep {
  readonly id: string;
  readonly action: StepAction;
  /** JSON of the trace's data. Only its reader needs to know what is inside. */
  readonly data: string;
  /** False for the interaction at which the visit waits. */
  readonly isCompleted: boolean;
}

/** What a step on the way saved. */
export interface SavedAtStep extends SavedAttribute {
  readonly stepId: string;
}

/** A visit as it comes out of the spool. */
export interface RecordedVisit {
  readonly id: string;
  readonly atMs: number;
  readonly workspaceId: string;
  readonly linkId: string;
  readonly entrypoint: string;
  readonly entryStepId: string;
  readonly level: DataCollection;
  readonly action: "SCAN" | "CLICK";
  /** The headers that decide on the class of the visit, as far as they were sent. */
  readonly headers: VisitHeaders;
  readonly userAgent: string;
  readonly language: string;
  readonly address: string;
  readonly cookie: string;
  readonly cookieWasSent: boolean;
  /** IN_PROGRESS when the visit waits at the last step for its visitor. */
  readonly outcome: RecordedOutcome;
  /** Empty for pages, visits under way and fallbacks that lead nowhere. */
  readonly destination: string;
  readonly conversionTracking: boolean;
  readonly stepsReached: number;
  readonly stepsTotal: number;
  /** The exit of a completed visit; the interaction of one under way; empty when the workflow has no entry. */
  readonly lastStepId: string;
  readonly lastStepAction: StepAction | "";
  /** In order, each once. */
  readonly opened: readonly RecordedStep[];
  /** What completed steps save to the visitor, in order. */
  readonly saved: readonly SavedAtStep[];
  /**
   * The interaction that the visitor is at, and the query that later steps need. Both are empty for visits that ended.
   */
  readonly waitsAt: string;
  readonly query: string;
}

export type RecordedOutcome = "COMPLETED" | "FALLBACK" | "IN_PROGRESS";

/** Reads a record. Throws when it is damaged, or of a version that is unknown here. */
export function decodeVisit({ id, own, shared }: RawRecord): RecordedVisit {
  const [line = "", ...lines] = textOf(own).split("\n");
  const fields: unknown = JSON.parse(line);
  if (!Array.isArray(fields) || fields[ofPlan.version] !== recordVersion || fields.length !== fieldCount)
    throw new Error("not a record of a known version");
  const visit: unknown[] = fields.slice(visitStart, fewStart);
  const few: unknown[] = fields.slice(fewStart);
  const [headers, lastStepAction] = [visit[ofVisit.headers], visit[ofVisit.lastStepAction]];
  const [saved, waiting] = [few[ofFew.saved], few[ofFew.waiting]];
  const [waitsAt, query] = waiting === 0 ? ["", ""] : list(waiting);
  return {
    id: textOfId(id),
    atMs: Buffer.from(id.buffer, id.byteOffset, 16).readUIntBE(0, 6),
    workspaceId: uuid(fields[ofPlan.workspaceId]),
    linkId: uuid(fields[ofPlan.linkId]),
    entrypoint: string(fields[ofPlan.entrypoint]),
    entryStepId: uuidOrNone(fields[ofPlan.entryStepId]),
    level: oneOf(visit[ofVisit.level], ["NONE", "BASIC", "ADVANCED"]),
    action: oneOf(visit[ofVisit.action], ["SCAN", "CLICK"]),
    headers: headers === 0 ? noHeaders : headersOf(headers),
    userAgent: string(visit[ofVisit.userAgent]),
    language: string(visit[ofVisit.language]),
    address: string(visit[ofVisit.address]),
    cookie: string(visit[ofVisit.cookie]),
    cookieWasSent: visit[ofVisit.cookieWasSent] === true,
    outcome: oneOf(visit[ofVisit.outcome], ["COMPLETED", "FALLBACK", "IN_PROGRESS"]),
    destination: string(visit[ofVisit.destination]),
    conversionTracking: visit[ofVisit.conversionTracking] === true,
    stepsReached: count(visit[ofVisit.stepsReached]),
    stepsTotal: count(visit[ofVisit.stepsTotal]),
    lastStepId: uuidOrNone(visit[ofVisit.lastStepId]),
    lastStepAction: lastStepAction === "" ? "" : stepAction(lastStepAction),
    opened: shared !== undefined ? sharedSteps(shared) : lines.length === 0 ? none : lines.map(openedStep),
    saved: saved === 0 ? none : list(saved).map(savedAttribute),
    waitsAt: uuidOrNone(waitsAt),
    query: string(query),
  };
}

/** Shared steps, read once for all records that share them. */
const readSteps = new WeakMap<Uint8Array, readonly RecordedStep[]>();

/** The steps of a shared text, whose lines each begin with a line break. */
function sharedSteps(shared: Uint8Array): readonly RecordedStep[] {
  let steps = readSteps.get(shared);
  if (steps === undefined) {
    steps = textOf(shared).split("\n").slice(1).map(openedStep);
    readSteps.set(shared, steps);
  }
  return steps;
}

const none: readonly never[] = Object.freeze([]);

/** The length of a UUID's text. */
const idLength = 36;

function openedStep(line: string): RecordedStep {
  const space = line.indexOf(" ");
  return {
    id: uuid(line.slice(0, idLength)),
    action: stepAction(line.slice(idLength + 1, space)),
    isCompleted: line[idLength] === "1",
    data: line.slice(space + 1),
  };
}

function savedAttribute(fields: unknown): SavedAtStep {
  const [stepId, key, value, type, setOnce] = list(fields);
  return {
    stepId: uuid(stepId),
    key: string(key),
    value: string(value),
    type: oneOf(type, ["STRING", "NUMBER", "BOOLEAN", "DATE", "ENUM"]),
    setOnce: setOnce === 1,
  };
}

const noHeaders: VisitHeaders = Object.freeze({});

function headersOf(value: unknown): VisitHeaders {
  if (typeof value !== "object" || value === null) throw new Error("headers are damaged");
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, string(text)]));
}
