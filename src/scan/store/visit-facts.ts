import type { Classification, Classify } from "../device/classify.ts";
import { collect, type KeptDevice, keptDevice } from "../device/collection.ts";
import { type DeviceKeys, deviceKeys, mayHaveVisitor } from "../device/device-keys.ts";
import type { Geography } from "../device/geography.ts";
import type { RecordedVisit } from "../spool/read-record.ts";

/** A recorded visit, and all that follows from it without the database. */
export interface VisitFacts extends DeviceKeys {
  readonly visit: RecordedVisit;
  readonly classification: Classification;
  /** What the visit tells of its device; looked up when the device is not known yet. */
  readonly device: () => KeptDevice;
  readonly counted: boolean;
  /** Whether it is a prefetch. Nobody has seen the answer yet, so it is nobody's first visit. */
  readonly isPrefetch: boolean;
  /** Whether the visit may get a visitor: not for bots and agents, and not at level NONE. */
  readonly hasVisitor: boolean;
}

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
  const keys = deviceKeys(
    { workspaceId, cookie, address, userAgent, language, deviceActor },
    collection,
    key,
  );
  return {
    visit,
    classification,
    device: () => {
      const place = geography.placeOf(address);
      return keptDevice({ classification, place, address, userAgent, language }, collection);
    },
    counted,
    isPrefetch: reason === "prefetch",
    hasVisitor: mayHaveVisitor(collection, deviceActor),
    ...keys,
  };
}
