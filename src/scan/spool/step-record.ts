import { type StepAction, stepActions } from "../../model/steps/kinds.ts";
import type { DataCollection } from "../../model/workflow/plan.ts";
import type { SavedAttribute, TraceData } from "../../workflow/walk-result.ts";
import { count, list, oneOf, stepAction, string, uuid, uuidOrNone } from "./field-values.ts";
import { framedLength, type RawRecord, type RecordText, textOf } from "./framed-records.ts";
import type { RecordedOutcome } from "./read-record.ts";
import { textOfId } from "./visit-id.ts";

/** A step that a request opened or completed. */
export interface StepTrace {
  readonly stepId: string;
  readonly action: StepAction;
  readonly data: TraceData;
  readonly isCompleted: boolean;
  /** What the step's attribute capture saves. */
  readonly saved: readonly SavedAttribute[];
}

/** An answer that a visit has taken, with all its effects. */
export interface TakenAnswer {
  readonly workspaceId: string;
  readonly eventId: string;
  /** The answer's number in its visit, from 1. A press on the page of an exit has the number of the last answer. */
  readonly number: number;
  /** Whether this is a press on the page of an exit. The visit ended when that page was shown. */
  readonly isPress: boolean;
  /** The outcome of the visit after the answer. A press changes neither the outcome nor the journey. */
  readonly outcome: RecordedOutcome;
  readonly destination: string;
  /** The action that ended the visit; empty for one under way. */
  readonly exitAction: StepAction | "";
  /** The last opened step other than a condition; empty when that step is gone. */
  readonly lastStepId: string;
  /** The number of steps on the shortest way to an exit. */
  readonly stepsAhead: number;
  /** The interaction at which the visitor is; empty for a visit that has ended. */
  readonly waitsAt: string;
  readonly query: string;
  readonly level: DataCollection;
  readonly linkId: string;
  /** The visitor whose values the database gave for conditions on the way; empty for none. */
  readonly seenVisitorId: string;
  /** The values that are saved to the visitor, in order. */
  readonly saved: readonly SavedAttribute[];
  /** The traces in their order. A step may occur more than once. */
  readonly traces: readonly StepTrace[];
}

/** An answer as it comes out of the spool. */
export interface RecordedAnswer extends TakenAnswer {
  /** The id of the record. */
  readonly id: string;
  readonly atMs: number;
}

/** The version of an answer's record; a visit's record has another. Answers are few, so their fields have names. */
const answerVersion = 2;

/** The limit of a record in bytes, somewhat less than what the spool takes. */
const recordBytesMax = 1_000 * 1024;

/**
 * Returns the text of a record. Saved values always fit. A record that is too long leaves out the traces of conditions,
 * which may hold dozens of long comparisons. If it is still too long, it leaves out all traces, so that the answer can
 * be written.
 */
export function encodeAnswer(answer: TakenAnswer): RecordText {
  const text = textFor(answer);
  if (framedLength(text) <= recordBytesMax) return text;
  const traces = answer.traces.filter(({ action }) => stepActions[action].kind !== "CONDITION");
  const shorter = textFor({ ...answer, traces });
  return framedLength(shorter) <= recordBytesMax ? shorter : textFor({ ...answer, traces: [] });
}

function textFor(answer: TakenAnswer): RecordText {
  return { own: JSON.stringify([answerVersion, answer]), shared: "" };
}

/** Whether a record is an answer, and not the beginning of a visit. */
export function isAnswer({ own }: RawRecord): boolean {
  // `[2,`
  return own[0] === 0x5b && own[1] === 0x30 + answerVersion && own[2] === 0x2c;
}

/** Reads the record of an answer, or throws when it is damaged. */
export function decodeAnswer({ id, own }: RawRecord): RecordedAnswer {
  const [, fields] = list(JSON.parse(textOf(own)));
  const answer = object(fields);
  const exitAction = answer.exitAction;
  return {
    id: textOfId(id),
    atMs: Buffer.from(id.buffer, id.byteOffset, 16).readUIntBE(0, 6),
    workspaceId: uuid(answer.workspaceId),
    eventId: uuid(answer.eventId),
    linkId: uuid(answer.linkId),
    number: count(answer.number, 2 ** 31 - 1),
    isPress: answer.isPress === true,
    outcome: oneOf(answer.outcome, ["COMPLETED", "FALLBACK", "IN_PROGRESS"]),
    destination: string(answer.destination),
    exitAction: exitAction === "" ? "" : stepAction(exitAction),
    lastStepId: uuidOrNone(answer.lastStepId),
    stepsAhead: count(answer.stepsAhead),
    waitsAt: uuidOrNone(answer.waitsAt),
    query: string(answer.query),
    level: oneOf(answer.level, ["NONE", "BASIC", "ADVANCED"]),
    seenVisitorId: uuidOrNone(answer.seenVisitorId),
    saved: list(answer.saved).map(savedAttribute),
    traces: list(answer.traces).map(trace),
  };
}

function object(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) throw new Error("an object is missing");
  // The caller checks each field.
  return value as Readonly<Record<string, unknown>>;
}

function savedAttribute(value: unknown): SavedAttribute {
  const { key, value: text, type, setOnce } = object(value);
  return {
    key: string(key),
    value: string(text),
    type: oneOf(type, ["STRING", "NUMBER", "BOOLEAN", "DATE", "ENUM"]),
    setOnce: setOnce === true,
  };
}

function trace(value: unknown): StepTrace {
  const { stepId, action, data, isCompleted, saved } = object(value);
  return {
    stepId: uuid(stepId),
    action: stepAction(action),
    // The data holds one variant under its name, and the variant is an object too.
    data: object(data) as TraceData,
    isCompleted: isCompleted === true,
    saved: list(saved).map(savedAttribute),
  };
}
