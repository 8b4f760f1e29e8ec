import type { StepAction } from "../../model/steps/kinds.ts";
import type { Plan, PlanStepOf } from "../../model/workflow/plan.ts";
import type { PressedButton } from "../capture.ts";
import type { Visit } from "../visit.ts";
import type { SavedAttribute, TraceData } from "../walk.ts";

/** One kind of step. Pure: no clock, no database, no headers. */
export interface StepKindOf<Action extends StepAction> {
  readonly enter: (step: PlanStepOf<Action>, visit: Visit, plan: Plan, now: Date) => Entered;
  /** Why a visit that came here went on by this branch, or stayed, in words for people; for simulations. */
  readonly explain: (
    step: PlanStepOf<Action>,
    branchId: string,
    visit: Visit,
    plan: Plan,
    now: Date,
  ) => string;
  /** Of interactions, and of exits with something to press. */
  readonly submit?: (
    step: PlanStepOf<Action>,
    answer: Answer,
    visit: Visit,
    deps: SubmitDeps,
  ) => Submitted | Refused;
}

/** What a step does with a visit that reaches it. */
export type Entered =
  /** Lets it on at once: the entry, conditions, forms whose answers are known already. */
  | { readonly kind: "branch"; readonly branchId: string; readonly data?: TraceData }
  | { readonly kind: "redirect"; readonly to: string; readonly conversionTracking: boolean }
  | { readonly kind: "exit-page"; readonly data: TraceData }
  | { readonly kind: "interaction"; readonly data: TraceData };

/** A posted answer: form fields by name. Names are those of `answer-fields.ts`. */
export type Answer = ReadonlyMap<string, readonly string[]>;

/** What came of an answer that a step took. */
export interface Submitted {
  readonly kind: "submitted";
  /** The way on; empty for exits, where a press only adds to the trace. */
  readonly branchId: string;
  /** Replaces the trace's data. */
  readonly data: TraceData;
  /** The answers of a form, under their keys; reserved ones among them identify the visitor. */
  readonly answers: readonly SavedAttribute[];
  /** The button of a multi-link page that was tapped. */
  readonly choice: PressedButton | undefined;
  /** False for a form that was skipped, and for exits, whose pages were complete when they were shown. */
  readonly captures: boolean;
  /** Where a pressed social link leads; empty elsewhere. */
  readonly to: string;
  /** What the visitor did, in words for people; for simulations. */
  readonly reason: string;
}

/** The page again: 401 for a wrong password, 422 for faults, by field id, and for an answer the page does not offer. */
export interface Refused {
  readonly kind: "refused";
  readonly status: 401 | 422;
  readonly faults: ReadonlyMap<string, AnswerFault>;
}

/** What is wrong with one answer; pages say it in the visitor's language. */
export type AnswerFault =
  | "REQUIRED"
  | "EMAIL"
  | "PHONE"
  | "NUMBER"
  | "DATE"
  | "OPTION"
  | "RATING"
  | "TOO_LONG"
  | "PASSWORD";

/** What a submission needs beside the answer. */
export interface SubmitDeps {
  /** Compares in constant time with the password that is sealed in the step's payload. */
  readonly isPassword: (step: PlanStepOf<"PASSWORD_VERIFY">, attempt: string) => boolean;
}

/** Of every page that asks. */
export const waitsForAnswer = "the page waits for an answer";

/** Of every exit with a page. */
export const endsWithPage = "the page is shown, and the visit ends with it";

/** An answer that the page does not offer, such as a button of an older page. */
export const notOffered: Refused = Object.freeze({ kind: "refused", status: 422, faults: new Map() });
