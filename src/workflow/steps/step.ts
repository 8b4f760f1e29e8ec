import type { Plan, PlanStep } from "../../model/plan.ts";
import type { StepAction } from "../../model/workflow.ts";
import type { Visit } from "../visit.ts";
import type { SavedAttribute, TraceData } from "../walk.ts";

type StepOf<Action extends StepAction> = Extract<PlanStep, { readonly action: Action }>;

/** What a step does with a visit that reaches it. */
export type Entered =
  /** Lets it on at once: the entry, conditions, forms whose answers are known already. */
  | { readonly kind: "branch"; readonly branchId: string; readonly data?: TraceData }
  | { readonly kind: "redirect"; readonly to: string; readonly conversionTracking: boolean }
  | { readonly kind: "exit-page"; readonly data: TraceData }
  | { readonly kind: "interaction"; readonly data: TraceData }
  /** Cannot serve it, which leads to the fallback. */
  | { readonly kind: "broken" };

/** A posted answer: form fields by name. Names are those of `answer-fields.ts`. */
export type Answer = ReadonlyMap<string, readonly string[]>;

/** What came of an answer. */
export type Submitted =
  | {
      readonly kind: "completed";
      /** The way on; empty for exits, where a press only adds to the trace. */
      readonly branchId: string;
      /** Replaces the trace's data. */
      readonly data: TraceData;
      /** The answers of a form, under their keys; reserved ones among them identify the visitor. */
      readonly answers: readonly SavedAttribute[];
      /** The label of what was chosen, for attribute capture; empty for none. */
      readonly choice: string;
      /** False when the step was left without completing it, such as a skipped form: nothing is captured then. */
      readonly captures: boolean;
      /** Where a pressed social link leads; absent elsewhere. */
      readonly to?: string;
    }
  /** The page again: with 401 for a wrong password, 422 for faults, by field id. */
  | {
      readonly kind: "refused";
      readonly status: 401 | 422;
      readonly faults: ReadonlyMap<string, Fault>;
    };

/** What is wrong with one answer; pages say it in the visitor's language. */
export type Fault =
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
  /** Compares in constant time with a sealed password. */
  readonly isPassword: (plan: Plan, step: StepOf<"PASSWORD_VERIFY">, attempt: string) => boolean;
}

/** One kind of step. Pure: no clock, no database, no headers. */
export interface StepKindOf<Action extends StepAction> {
  readonly enter: (step: StepOf<Action>, visit: Visit, plan: Plan, now: Date) => Entered;
  /** Of interactions, and of exits with something to press. */
  readonly submit?: (step: StepOf<Action>, answer: Answer, plan: Plan, deps: SubmitDeps) => Submitted;
}
