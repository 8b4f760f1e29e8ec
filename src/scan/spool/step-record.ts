import { type StepAction, stepActions } from "../../model/steps/kinds.ts";
import type { DataCollection } from "../../model/workflow/plan.ts";
import type { SavedAttribute, TraceData } from "../../workflow/walk-result.ts";
import { count, list, oneOf, stepAction, string, uuid, uuidOrNone } from "./field-values.ts";
import { framedLength, type RawRecord, type RecordText, textOf } from "./framed-records.ts";
import type { RecordedOutcome } from "./read-record.ts";
import { textOfId } from "./visit-id.ts";

/** The step id of a fallback's trace. No step of the link has it, because each step has at most one trace. */
export const fallbackStepId = "00000000-0000-0000-0000-000000000000";

/** A step that was opened, or completed, by a request. */
export interface StepTrace {
  readonly stepId: string;
  readonly action: StepAction;
  readonly data: TraceData;
  readonly isCompleted: boolean;
  /** What the step's attribute capture saves. */
  readonly saved: readonly SavedAttribute[];
}

/** An answer that a visit has taken, and all that came of it. */
export interface TakenAnswer {
  readonly workspaceId: string;
  readonly eventId: string;
  /** Which of the visit's answers it is, from 1; a press on the page of an exit has that of the last one. */
  readonly number: number;
  /** A press on the page of an exit, which ended the visit when it was shown. */
  readonly isPress: boolean;
  /** Where the visit stands afterwards; a press leaves all of it as it is. */
  readonly outcome: RecordedOutcome;
  readonly destination: string;
  /** The action that ended the visit; empty for one under way. */
  readonly exitAction: StepAction | "";
  /** The step opened last that is no condition; empty when it is gone. */
  readonly lastStepId: string;
  /** The fewest steps that are missing to an exit. */
  readonly stepsAhead: number;
  /** The interaction that the visitor is at; empty for a visit that has ended. */
  readonly waitsAt: string;
  readonly query: string;
  readonly level: DataCollection;
  readonly linkId: string;
  /** Whose values conditions have seen on the way; empty where they asked nobody's. */
  readonly seenVisitorId: string;
  /** What is saved to the visitor, in order. */
  readonly saved: readonly SavedAttribute[];
  /** In order, each step once or more. */
  readonly traces: readonly StepTrace[];
}

/** An answer as it comes out of the spool. */
export interface RecordedAnswer extends TakenAnswer {
  /** Of the record. */
  readonly id: string;
  readonly atMs: number;
}

/** The version of records that are answers; those of visits have others. Answers are few, so their fields have names. */
const answerVersion = 2;

/** Somewhat less than the spool takes. */
const recordBytesMax = 1_000 * 1024;

/**
 * The text of a record. What is saved always fits. Of traces, conditions with dozens of long comparisons go first, then all:
 * better than an answer that can never be written.
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
  // Its fields are looked at one by one.
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
    // One variant under its name, which is an object as well.
    data: object(data) as TraceData,
    isCompleted: isCompleted === true,
    saved: list(saved).map(savedAttribute),
  };
}
