import { hash } from "node:crypto";
import type { Classification, Classify, DeviceActor } from "../device/classify.ts";
import { type Collection, collect, type KeptDevice, keptDevice } from "../device/collection.ts";
import type { Geography } from "../device/geography.ts";
import type { RecordedVisit } from "../spool/read-record.ts";

/** A recorded visit, and all that follows from it without the database. */
export interface VisitFacts {
  readonly visit: RecordedVisit;
  readonly classification: Classification;
  /** What the visit tells of its device; looked up when the device is not known yet. */
  readonly device: () => KeptDevice;
  readonly counted: boolean;
  /** Nobody has seen the answer yet, so this is not a first visit of anybody. */
  readonly isPrefetch: boolean;
  /** Whether the visit may be given a visitor: not of bots and agents, and not at level NONE. */
  readonly hasVisitor: boolean;
  /**
   * What the device is known by, in hexadecimal: neither at level NONE, and of bots and agents, which keep no cookies, only
   * the second; else empty.
   */
  readonly cookieHash: string;
  readonly fingerprint: string;
}

export interface FactsDeps {
  readonly classify: Classify;
  readonly geography: Geography;
  /** Keeps cookies and fingerprints in the database from being guessed: 32 bytes in hexadecimal. */
  readonly key: string;
}

/** Half of a SHA-256 is plenty to tell devices of one workspace apart, and halves the index. */
const hashDigits = 32;

/** Says what follows from a visit. Pure but for the memory of the classifier. */
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

/** Whether a visit may be given a visitor: not those of bots and agents, and none at level NONE. */
export function mayHaveVisitor({ visitor }: Collection, actor: DeviceActor): boolean {
  return visitor && !isAutomatic(actor);
}

function isAutomatic(actor: DeviceActor): boolean {
  return actor === "BOT" || actor === "AGENT";
}

/** What of a visit tells its device. */
export interface DeviceTraits {
  readonly workspaceId: string;
  readonly cookie: string;
  readonly address: string;
  readonly userAgent: string;
  readonly language: string;
  readonly deviceActor: DeviceActor;
}

/** What devices are known by in the database; see `VisitFacts`. */
export function deviceKeys(
  traits: DeviceTraits,
  { cookie: keepsCookie, match, level }: Collection,
  key: string,
): Pick<VisitFacts, "cookieHash" | "fingerprint"> {
  const { workspaceId, cookie, address, userAgent, language, deviceActor } = traits;
  const hasCookie = keepsCookie && !isAutomatic(deviceActor) && cookie !== "";
  return {
    cookieHash: hasCookie ? cookieHashOf(workspaceId, cookie, key) : "",
    // With actor and level: an agent that borrows a person's browser is no person, and who asks for less is not
    // answered with the record of somebody who did not.
    fingerprint: match ? keyed(key, workspaceId, address, userAgent, language, deviceActor, level) : "",
  };
}

/** What a device cookie is known by in the database. */
export function cookieHashOf(workspaceId: string, cookie: string, key: string): string {
  return keyed(key, workspaceId, cookie);
}

// Header values hold no line breaks, so no two lists of parts give the same text.
function keyed(...parts: readonly string[]): string {
  return hash("sha256", parts.join("\n"), "hex").slice(0, hashDigits);
}
