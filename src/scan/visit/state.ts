import type { DataCollection } from "../../model/workflow/plan.ts";
import type { SavedAttribute } from "../../workflow/walk-result.ts";

/** Which visit it is: the one of an event, at a link of a workspace. */
export interface VisitKey {
  readonly workspaceId: string;
  readonly linkId: string;
  readonly eventId: string;
}

/** Where a visit stands: all that its next step needs to know, so that nobody has to be asked for it. */
export interface VisitState {
  /** How many answers the visit has taken. */
  readonly answers: number;
  /** COMPLETED and FALLBACK are for good. */
  readonly outcome: "IN_PROGRESS" | "COMPLETED" | "FALLBACK" | "ABANDONED";
  /** The interaction that the visitor is at, or the step at which the visit ended; empty for none. */
  readonly stepId: string;
  /** Where the visitor was sent on to; empty for visits under way and for pages. */
  readonly destination: string;
  /** When the visitor was there last, or when the visit ended. */
  readonly activeAtMs: number;
  /** When the step was opened. */
  readonly openedAtMs: number;
  /** The level of the visit's beginning: changes apply to later visits only. */
  readonly level: DataCollection;
  readonly visitType: "FIRST" | "RETURNING";
  /** False where `visitType` is only what the device's cookie suggests. */
  readonly isTypeKnown: boolean;
  /** What the device's cookie is known by, in hexadecimal; empty for a device that keeps none. */
  readonly cookieHash: string;
  /** What the visitor came with, without `?`. */
  readonly query: string;
  /** What this visit has saved so far, as far as its workflow may ask about it, in order. */
  readonly saved: readonly SavedAttribute[];
}

/** Which of two descriptions of one visit is the newer one. */
export function newerOf(one: VisitState, other: VisitState): VisitState {
  const difference = progressOf(one) - progressOf(other);
  if (difference !== 0 && !Number.isNaN(difference)) return difference > 0 ? one : other;
  return one.activeAtMs >= other.activeAtMs ? one : other;
}

function progressOf({ outcome, answers }: VisitState): number {
  return outcome === "COMPLETED" || outcome === "FALLBACK" ? Number.POSITIVE_INFINITY : answers;
}
