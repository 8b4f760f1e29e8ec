import type { StoredAttribute } from "../model/visitors/attribute-operators.ts";
import type { DataCollection } from "../model/workflow/plan.ts";

/**
 * What a workflow may ask about a visit. Pure data: whoever asks has looked it up, from a request or from a simulation. Here
 * and in what comes of a visit, a text that is not there is empty, and anything else that is not there is undefined.
 */
export interface Visit {
  /** The query as the visitor sent it, without `?`. */
  readonly query: string;
  /** The visit's id as parameter `lbid`; empty for visits that leave no event. */
  readonly lbid: () => string;
  /** How much is kept of this visit. At NONE nothing is saved, and traces hold no answers. */
  readonly dataCollection: DataCollection;
  /** Whether the device has visited the link before; known where `plan.needs.visitType` says so. */
  readonly visitType: "FIRST" | "RETURNING";
  /** ISO 3166-1 alpha-2, upper case; empty when unknown. */
  readonly country: () => string;
  /** Asked by device conditions, and when there is something to save: bots and agents save nothing. */
  readonly device: () => VisitDevice;
  /**
   * Values by attribute key, reserved ones with `$`; undefined for who has no profile. Known where `plan.needs.visitor`
   * says so.
   */
  readonly attributes: KnownAttributes | undefined;
}

/** What is known of a visitor, by the attribute's key. */
export type KnownAttributes = ReadonlyMap<string, StoredAttribute>;

/** Names as devices have them; empty when unknown. */
export interface VisitDevice {
  readonly deviceType: "NATIVE" | "MOBILE" | "TABLET" | "DESKTOP" | "UNKNOWN";
  readonly deviceActor: "HUMAN" | "BOT" | "AGENT" | "UNKNOWN";
  readonly platformName: string;
  readonly browserName: string;
  readonly deviceBrand: string;
}
