import { hash } from "node:crypto";
import type { DeviceActor } from "./classify.ts";
import type { Collection } from "./collection.ts";

/** Half of a SHA-256 is plenty to tell devices of one workspace apart, and halves the index. */
const hashDigits = 32;

/** Whether a visit may be given a visitor: not those of bots and agents, and none at level NONE. */
export function mayHaveVisitor({ visitor }: Collection, actor: DeviceActor): boolean {
  return visitor && !isAutomatic(actor);
}

/** Bots and agents. */
export function isAutomatic(actor: DeviceActor): boolean {
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

/** What a device is known by in the database, in hexadecimal. */
export interface DeviceKeys {
  /** Empty for who sends no cookie, at levels that keep none, and of bots and agents, which keep none either. */
  readonly cookieHash: string;
  /** Empty at levels at which visits are not matched. */
  readonly fingerprint: string;
}

/** Says what a device is known by in the database. */
export function deviceKeys(
  traits: DeviceTraits,
  { cookie: keepsCookie, match, level }: Collection,
  key: string,
): DeviceKeys {
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
