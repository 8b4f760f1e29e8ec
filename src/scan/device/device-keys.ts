import { hash } from "node:crypto";
import type { Classification, DeviceActor } from "./classify.ts";
import type { Collection } from "./collection.ts";

/** Half of a SHA-256 is enough to tell the devices of one workspace apart, and halves the index. */
const hashDigits = 32;

/** Whether a visit may get a visitor. Visits of bots and agents get none, nor do visits at level NONE. */
export function mayHaveVisitor({ visitor }: Collection, actor: DeviceActor): boolean {
  return visitor && !isAutomatic(actor);
}

/** Bots and agents. */
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

/** What a device is known by in the database, in hexadecimal; neither at levels at which visits are not matched. */
export interface DeviceKeys {
  /** Empty for who has no cookie, and of bots and agents, which keep none. */
  readonly cookieHash: string;
  /**
   * What a bot or agent looks like, of this day. Empty for anybody else: phones of one model and one network look alike, so
   * that a look would take one person for another.
   */
  readonly fingerprint: string;
}

const dayMs = 24 * 60 * 60_000;

/** Says what a device is known by in the database. */
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

/** The key of a device cookie in the database, in hexadecimal. */
export function cookieHashOf(workspaceId: string, cookie: string, key: string): string {
  return keyed(key, workspaceId, cookie);
}

// Header values hold no line breaks, so two different lists of parts never give the same text.
function keyed(...parts: readonly string[]): string {
  return hash("sha256", parts.join("\n"), "hex").slice(0, hashDigits);
}
