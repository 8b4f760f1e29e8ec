/** The devices that invented people have. */
export type SimulatedDeviceType = "MOBILE" | "TABLET" | "DESKTOP";

/** Visits of invented people that a sandbox asks for. A value that stands twice in a list is chosen twice as often. */
export interface VisitsOrder {
  readonly workspaceId: string;
  /** At least one. */
  readonly linkIds: readonly string[];
  readonly count: number;
  /** A whole number below 2^31. */
  readonly seed: number;
  /** ISO 3166-1 alpha-2. Empty for a mixture. */
  readonly countries: readonly string[];
  /** Empty for a mixture. */
  readonly deviceTypes: readonly SimulatedDeviceType[];
  /** Over how many hours before now the visits are spread. */
  readonly hours: number;
  readonly now: Date;
  /** What rules take for now. */
  readonly ruleTime: Date;
}

/**
 * Makes visits and stores them. Returns the ids of their events, in the order of time; or the country of which no address
 * is known, when it has made none.
 */
export type SimulateVisits = (
  order: VisitsOrder,
) => Promise<{ readonly eventIds: readonly string[] } | { readonly unknownCountry: string }>;
