import type { LeadScore } from "../../model/visitors/lead-score.ts";
import type { KeptDevice } from "../device/collection.ts";
import type { VisitLock } from "./number-visits.ts";
import type { VisitFacts } from "./visit-facts.ts";

/** A device of visits in a batch. */
export interface BatchDevice {
  readonly workspaceId: string;
  readonly id: string;
  /** Set for a new device: the visit that describes the device, and what is kept of the device. */
  readonly made: { readonly facts: VisitFacts; readonly kept: KeptDevice } | undefined;
  readonly country: string;
  /** Links that the device is known to have visited before; perhaps not all of them. */
  readonly visited: Set<string>;
  lastUsedMs: number;
  /** Empty until the device makes a visit that may have a visitor. */
  visitorId: string;
  /** Set when the visitor was not known before. */
  visitorSinceMs: number | undefined;
}

export type VisitType = "FIRST" | "RETURNING";

/** A visit with its device, visitor and type. */
export interface ResolvedVisit {
  readonly facts: VisitFacts;
  readonly device: BatchDevice;
  /** Empty for a visit without a visitor. */
  readonly visitorId: string;
  readonly visitType: VisitType;
  /** Set for a counted visit that the plan's limit hides: it is in no figure until it is revealed. */
  readonly lock: VisitLock | undefined;
  /** The number of the visitor's earlier visits to the link; undefined until it is known, and without a visitor. */
  previousVisits: number | undefined;
  /** Undefined until the visit is scored. */
  score: LeadScore | undefined;
}
