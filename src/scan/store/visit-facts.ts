import type { Classification, Classify } from "../device/classify.ts";
import { collect, type KeptDevice, keptDevice } from "../device/collection.ts";
import { type DeviceKeys, deviceKeys, isAutomatic, mayHaveVisitor } from "../device/device-keys.ts";
import type { Geography } from "../device/geography.ts";
import type { RecordedVisit } from "../spool/read-record.ts";

/** A recorded visit, and all that follows from it without the database. */
export interface VisitFacts extends DeviceKeys {
  readonly visit: RecordedVisit;
  readonly classification: Classification;
  /** What the visit tells of its device; looked up when the device is not known yet. */
  readonly device: () => KeptDevice;
  readonly counted: boolean;
  /** Why the visit is not counted; empty for one that is. */
  readonly uncountedReason: UncountedReason | "";
  /** Whether nobody has opened the link, as with a prefetch. Such a visit is not the first visit of its device. */
  readonly isUnseen: boolean;
  /** Whether the visit may be given a visitor: not of bots and agents, and not at level NONE. */
  readonly hasVisitor: boolean;
}

/** Bare values of the contract's `UncountedReason`. */
export type UncountedReason =
  | "CRAWLER"
  | "LINK_PREVIEW"
  | "PROGRAM"
  | "AGENT"
  | "PREFETCH"
  | "PREVIEW"
  | "EMBEDDED";

/** The reasons of the contract, by the reason of the classification. Empty for visits that are counted. */
const reasons: Readonly<Record<Classification["reason"], UncountedReason | "">> = {
  browser: "",
  "scanner app": "",
  "native client": "",
  "no user agent": "",
  "unrecognised user agent": "",
  crawler: "CRAWLER",
  "link preview": "LINK_PREVIEW",
  program: "PROGRAM",
  assistant: "AGENT",
  prefetch: "PREFETCH",
  preview: "PREVIEW",
  embedded: "EMBEDDED",
};

export interface FactsDeps {
  readonly classify: Classify;
  readonly geography: Geography;
  /** Keeps cookies and fingerprints in the database from being guessed: 32 bytes in hexadecimal. */
  readonly key: string;
}

/** Computes what follows from a visit. Pure, except for the memory of the classifier. */
export function factsOf(visit: RecordedVisit, { classify, geography, key }: FactsDeps): VisitFacts {
  const { userAgent, language, address, level, headers, workspaceId, cookie } = visit;
  const classification = classify(userAgent, headers);
  const { counted, reason, deviceActor } = classification;
  const collection = collect(level, {});
  const traits = { workspaceId, atMs: visit.atMs, cookie, address, userAgent, language };
  const keys = deviceKeys({ ...traits, device: classification }, collection, key);
  return {
    visit,
    classification,
    device: () => {
      const place = geography.placeOf(address);
      return keptDevice({ classification, place, address, userAgent, language }, collection);
    },
    counted,
    uncountedReason: counted ? "" : reasons[reason],
    isUnseen: !counted && !isAutomatic(deviceActor),
    hasVisitor: mayHaveVisitor(collection, deviceActor),
    ...keys,
  };
}
