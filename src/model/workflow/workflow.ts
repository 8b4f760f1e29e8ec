import { objectOf, objectsOf, textOf } from "../json-fields.ts";
import { type StepAction, stepActions } from "../steps/kinds.ts";
import { inOrder } from "../steps/reading.ts";
import type { StepFacts } from "../steps/step.ts";

/**
 * A step as it is stored. `payload` is the JSON object of the variant that belongs to the action, without the variant's
 * name: `{"destination":"https://example.com","conversionTracking":false}`, and `{}` for LINK_VISIT. Fields that hold
 * their default may be absent.
 */
export interface StoredStep {
  readonly id: string;
  readonly action: StepAction;
  readonly payload: unknown;
  /** The JSON of the message AttributeCapture; absent or null for a step that captures nothing. */
  readonly attributeCapture?: unknown;
}

/** Where a branch leads; a branch without one is not connected. */
export interface StoredConnection {
  readonly stepId: string;
  readonly branchId: string;
  readonly nextStepId: string;
}

/** The step id of a fallback's trace. No step of a link has this id. A visit has at most one trace for each step id. */
export const fallbackStepId = "00000000-0000-0000-0000-000000000000";

/** One way out of a step: its id, unique in the step, and what people read. */
export interface Branch {
  readonly id: string;
  readonly label: string;
}

export const nextBranchId = "next";
export const elseBranchId = "else";

/** Every way out of a step, in the order it is tried or shown: one per choice, then `else`; `next`; none for exits. */
export function branchesOf({ action, payload }: Pick<StoredStep, "action" | "payload">): Branch[] {
  const { kind, list }: Pick<StepFacts<never>, "kind" | "list"> = stepActions[action];
  if (kind === "EXIT") return [];
  if (list?.branch === undefined) return [{ id: nextBranchId, label: "next step" }];
  const { id, label, isOrdered } = list.branch;
  const elements = objectsOf(objectOf(payload)[list.name]);
  const branches = (isOrdered ? inOrder(elements) : elements).map((element) => ({
    id: textOf(element[id]),
    label: textOf(element[label]),
  }));
  return kind === "CONDITION" ? [...branches, { id: elseBranchId, label: "fallback" }] : branches;
}
