import type { DataCollection } from "../../model/workflow/plan.ts";
import type { SavedAttribute } from "../../workflow/walk-result.ts";

/** Names a visit by its workspace, its link and its event. */
export interface VisitKey {
  readonly workspaceId: string;
  readonly linkId: string;
  readonly eventId: string;
}

/** Where a visit stands: everything that its next step needs to know without asking the database. */
export interface VisitState {
  /** How many answers the visit has taken. */
  readonly answers: number;
  /** COMPLETED and FALLBACK are final. */
  readonly outcome: "IN_PROGRESS" | "COMPLETED" | "FALLBACK" | "ABANDONED";
  /** The interaction that the visitor is at, or the step at which the visit ended; empty for none. */
  readonly stepId: string;
  /** The address to which the visitor was sent; empty for a visit under way and for one that ended at a page. */
  readonly destination: string;
  /** When the visitor's last request came, or when the visit ended. */
  readonly activeAtMs: number;
  /** When the step `stepId` was opened. */
  readonly openedAtMs: number;
  /** The level at which the visit began. A change of the level applies to later visits only. */
  readonly level: DataCollection;
  readonly visitType: "FIRST" | "RETURNING";
  /** False where `visitType` is only what the device's cookie suggests. */
  readonly isTypeKnown: boolean;
  /** The hash of the device's cookie, in hexadecimal; empty for a device without a cookie. */
  readonly cookieHash: string;
  /** The query of the visit's first request, without `?`. */
  readonly query: string;
  /** The values that this visit has saved and that its workflow may ask about, in order. */
  readonly saved: readonly SavedAttribute[];
}

/** Returns the newer of two states of one visit. */
export function newerOf(one: VisitState, other: VisitState): VisitState {
  const difference = progressOf(one) - progressOf(other);
  if (difference !== 0 && !Number.isNaN(difference)) return difference > 0 ? one : other;
  return one.activeAtMs >= other.activeAtMs ? one : other;
}

function progressOf({ outcome, answers }: VisitState): number {
  return outcome === "COMPLETED" || outcome === "FALLBACK" ? Number.POSITIVE_INFINITY : answers;
}
