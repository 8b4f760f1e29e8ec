import type { StepAction } from "../../model/steps/kinds.ts";
import type { Plan, PlanStep, PlanStepOf } from "../../model/workflow/plan.ts";
import type { PressedButton } from "../capture.ts";
import type { Visit } from "../visit.ts";
import type { SavedAttribute, TraceData } from "../walk-result.ts";

/** One kind of step. Pure: no clock, no database, no headers. */
export interface StepKindOf<Action extends StepAction> {
  readonly enter: (step: PlanStepOf<Action>, visit: Visit, plan: Plan, now: Date) => Entered;
  /** Why a visit went on by this branch, or stayed at the step, in words for people. Used by simulations. */
  readonly explain: (
    step: PlanStepOf<Action>,
    branchId: string,
    visit: Visit,
    plan: Plan,
    now: Date,
  ) => string;
  /** For interactions, and for exits with something to press. */
  readonly submit?: (
    step: PlanStepOf<Action>,
    answer: Answer,
    visit: Visit,
    deps: SubmitDeps,
  ) => Submitted | Refused;
}

/** What a step does with a visit that reaches it. */
export type Entered =
  /** The step lets the visit on at once: the entry, conditions, and forms whose answers are already known. */
  | {
      readonly kind: "branch";
      readonly branchId: string;
      readonly data?: TraceData;
      /** The step behind the branch, where a condition remembers it. Undefined to look it up. */
      readonly to?: PlanStep | undefined;
    }
  | { readonly kind: "redirect"; readonly to: string; readonly conversionTracking: boolean }
  | { readonly kind: "exit-page"; readonly data: TraceData }
  | { readonly kind: "interaction"; readonly data: TraceData };

/** A posted answer: the values of form fields by name. The names are those of `answer-fields.ts`. */
export type Answer = ReadonlyMap<string, readonly string[]>;

/** What an answer that a step took leads to. */
export interface Submitted {
  readonly kind: "submitted";
  /** The branch that leads on. Empty for exits, where a press only adds to the trace. */
  readonly branchId: string;
  /** Replaces the trace's data. */
  readonly data: TraceData;
  /** The answers of a form, under their keys. Reserved keys among them identify the visitor. */
  readonly answers: readonly SavedAttribute[];
  /** The pressed button of a multi-link page. */
  readonly choice: PressedButton | undefined;
  /**
   * Whether attribute capture runs. False for a form that was skipped, and for exits, whose pages were complete when
   * they were shown.
   */
  readonly captures: boolean;
  /** Where a pressed social link leads. Empty elsewhere. */
  readonly to: string;
  /** What the visitor did, in words for people. Used by simulations. */
  readonly reason: string;
}

/**
 * A refused answer, which shows the page again: 401 for a wrong password, 422 for faults, by field id, and for an
 * answer that the page does not offer.
 */
export interface Refused {
  readonly kind: "refused";
  readonly status: 401 | 422;
  readonly faults: ReadonlyMap<string, AnswerFault>;
}

/** What is wrong with one answer. Pages say it in the visitor's language. */
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
  /** Compares an attempt with the password that is sealed in the step's payload, in constant time. */
  readonly isPassword: (step: PlanStepOf<"PASSWORD_VERIFY">, attempt: string) => boolean;
}

/** The explanation of every page that asks. */
export const waitsForAnswer = "the page waits for an answer";

/** The explanation of every exit with a page. */
export const endsWithPage = "the page is shown, and the visit ends with it";

/** An answer that the page does not offer, such as a button of an older page. */
export const notOffered: Refused = Object.freeze({ kind: "refused", status: 422, faults: new Map() });
