import { hash } from "node:crypto";
import type { Classification, DeviceActor } from "./classify.ts";
import type { Collection } from "./collection.ts";

/** Half of a SHA-256 is enough to distinguish the devices of one workspace, and halves the index. */
const hashDigits = 32;

/** Whether a visit may get a visitor. Visits of bots and agents, and visits at level NONE, get no visitor. */
export function mayHaveVisitor({ visitor }: Collection, actor: DeviceActor): boolean {
  return visitor && !isAutomatic(actor);
}

/** Whether a bot or an agent made the visit. */
export function isAutomatic(actor: DeviceActor): boolean {
  return actor === "BOT" || actor === "AGENT";
}

/** The facts of a visit by which its device is recognised. */
export interface DeviceTraits {
  readonly workspaceId: string;
  readonly atMs: number;
  readonly cookie: string;
  readonly address: string;
  readonly userAgent: string;
  readonly language: string;
  readonly device: Pick<Classification, "deviceActor" | "deviceActorName">;
}

/** The keys of a device in the database, in hexadecimal. Both are empty at a level at which visits are not matched. */
export interface DeviceKeys {
  /** Empty for a device without a cookie, and for bots and agents, which keep no cookie. */
  readonly cookieHash: string;
  /**
   * A hash of the look of a bot or agent, for the UTC day of the visit. Empty for people, because phones of one model
   * in one network look alike and would count as one person.
   */
  readonly fingerprint: string;
}

const dayMs = 24 * 60 * 60_000;

/** Computes the keys of a device in the database. */
export function deviceKeys(
  { workspaceId, atMs, cookie, address, userAgent, language, device }: DeviceTraits,
  { cookie: keepsCookie, match, level }: Collection,
  key: string,
): DeviceKeys {
  const { deviceActor, deviceActorName } = device;
  if (!isAutomatic(deviceActor)) {
    const hasCookie = keepsCookie && cookie !== "";
    return { cookieHash: hasCookie ? cookieHashOf(workspaceId, cookie, key) : "", fingerprint: "" };
  }
  const day = String(Math.floor(atMs / dayMs));
  const look = [address, userAgent, language, deviceActor, deviceActorName, level];
  return { cookieHash: "", fingerprint: match ? keyed(key, day, workspaceId, ...look) : "" };
}

/** The keys of a device that are not empty. */
export function deviceNames({ cookieHash, fingerprint }: DeviceKeys): string[] {
  return [cookieHash, fingerprint].filter((name) => name !== "");
}

/** The key of a device cookie in the database, in hexadecimal. */
export function cookieHashOf(workspaceId: string, cookie: string, key: string): string {
  return keyed(key, workspaceId, cookie);
}

// Header values hold no line breaks, so two different lists of parts never give the same text.
function keyed(...parts: readonly string[]): string {
  return hash("sha256", parts.join("\n"), "hex").slice(0, hashDigits);
}
