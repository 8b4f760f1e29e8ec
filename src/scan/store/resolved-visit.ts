import type { LeadScore } from "../../model/visitors/lead-score.ts";
import type { KeptDevice } from "../device/collection.ts";
import type { VisitFacts } from "./visit-facts.ts";

/** What roll-ups count a device by. */
export type DeviceDimensions = Pick<
  KeptDevice,
  "deviceType" | "country" | "city" | "browserName" | "platformName"
>;

/** A device that visits of a batch were made with. */
export interface BatchDevice {
  readonly workspaceId: string;
  readonly id: string;
  /** For a device that was not known before: the visit that shows what the device is, and what it shows. */
  readonly made: { readonly facts: VisitFacts; readonly kept: KeptDevice } | undefined;
  readonly dimensions: DeviceDimensions;
  lastUsedMs: number;
  /** Empty until a visit of somebody who may have a visitor. */
  visitorId: string;
  /** Set when the visitor was not known before. */
  visitorSinceMs: number | undefined;
}

export type VisitType = "FIRST" | "RETURNING";

/** A visit with its device, visitor and type. */
export interface ResolvedVisit {
  readonly facts: VisitFacts;
  readonly device: BatchDevice;
  /** Empty for none. */
  readonly visitorId: string;
  readonly visitType: VisitType;
  /** How often the visitor had visited the link before; undefined until it is known, and without a visitor. */
  previousVisits: number | undefined;
  /** Undefined until there is one. */
  score: LeadScore | undefined;
}
