import type { StoredAttribute } from "../model/visitors/attribute-operators.ts";
import type { DataCollection } from "../model/workflow/plan.ts";

/**
 * What a workflow may ask about a visit. Pure data: a caller has looked it up, from a request or from a simulation.
 * Here, and in what comes of a visit, a missing text is empty, and any other missing value is undefined.
 */
export interface Visit {
  /** The query as the visitor sent it, without `?`. */
  readonly query: string;
  /** The visit's id as the parameter `lbid`. Empty for visits that leave no event. */
  readonly lbid: () => string;
  /** How much is kept of this visit. At NONE nothing is saved, and traces hold no answers. */
  readonly dataCollection: DataCollection;
  /** Whether the device has visited the link before. Only known when `plan.needs.visitType` is set. */
  readonly visitType: "FIRST" | "RETURNING";
  /** ISO 3166-1 alpha-2, upper case; empty when unknown. */
  readonly country: () => string;
  /** Called for device conditions, and when there is something to save, because bots and agents save nothing. */
  readonly device: () => VisitDevice;
  /**
   * Values by attribute key, reserved ones with `$`. Undefined for a visitor without a profile. Only known when
   * `plan.needs.visitor` is set.
   */
  readonly attributes: KnownAttributes | undefined;
}

/** What is known of a visitor, by attribute key. */
export type KnownAttributes = ReadonlyMap<string, StoredAttribute>;

/** Names as devices have them. Empty when unknown. */
export interface VisitDevice {
  readonly deviceType: "NATIVE" | "MOBILE" | "TABLET" | "DESKTOP" | "UNKNOWN";
  readonly deviceActor: "HUMAN" | "BOT" | "AGENT" | "UNKNOWN";
  readonly platformName: string;
  readonly browserName: string;
  readonly deviceBrand: string;
}
