import type { AttributeType } from "../model/workflow/attribute-capture.ts";
import type { PlanStep } from "../model/workflow/plan.ts";

/** A walk through a workflow: from its entry, or from an answered interaction, to where it stops. */
export interface Walk {
  /** The steps taken, in order, including conditions. */
  readonly taken: readonly Taken[];
  readonly end: End;
}

/** A step that was opened on a walk. */
export interface Taken {
  readonly step: PlanStep;
  /** The branch that leads on. Empty at the step where the walk ends. */
  readonly branchId: string;
  /** Undefined for the entry and for redirects, whose data follow from the event and the walk's end. */
  readonly data: TraceData | undefined;
  /** False for an interaction that waits for its visitor. */
  readonly isCompleted: boolean;
  /** What the step's attribute capture saves to the visitor when the step completes. */
  readonly saved: readonly SavedAttribute[];
}

/** How a walk ends. */
export type End =
  /** A redirect step. It sends the visitor to its address, with everything that is carried on. */
  | {
      readonly kind: "redirect";
      readonly step: PlanStep;
      readonly to: string;
      /** Whether `to` has `lbid`. */
      readonly conversionTracking: boolean;
    }
  /** An exit with a page of its own. */
  | { readonly kind: "exit-page"; readonly step: PlanStep }
  /** An interaction, which shows its page and waits for an answer. */
  | { readonly kind: "interaction"; readonly step: PlanStep }
  /** The workflow cannot serve an exit. `to` is empty for a fallback that leads nowhere. */
  | { readonly kind: "fallback"; readonly to: string };

/** The data of a trace as it is stored: JSON of the one variant that belongs to the step, under the variant's name. */
export type TraceData = Readonly<Record<string, object>>;

/** Something to save to the visitor of a visit. */
export interface SavedAttribute {
  readonly key: string;
  readonly value: string;
  readonly type: AttributeType;
  /** Whether the value only fills an empty attribute. */
  readonly setOnce: boolean;
}
