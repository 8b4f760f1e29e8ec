import { hash } from "node:crypto";
import type { DeviceActor } from "./classify.ts";
import type { Collection } from "./collection.ts";

/** Half of a SHA-256 is enough to tell the devices of one workspace apart, and halves the index. */
const hashDigits = 32;

/** Whether a visit may get a visitor. Visits of bots and agents get none, nor do visits at level NONE. */
export function mayHaveVisitor({ visitor }: Collection, actor: DeviceActor): boolean {
  return visitor && !isAutomatic(actor);
}

function isAutomatic(actor: DeviceActor): boolean {
  return actor === "BOT" || actor === "AGENT";
}

/** The facts of a visit by which its device is recognised. */
export interface DeviceTraits {
  readonly workspaceId: string;
  readonly cookie: string;
  readonly address: string;
  readonly userAgent: string;
  readonly language: string;
  readonly deviceActor: DeviceActor;
}

/** The keys of a device in the database, in hexadecimal. */
export interface DeviceKeys {
  /** Empty without a cookie, at levels that keep none, and for bots and agents, whose cookies are never kept. */
  readonly cookieHash: string;
  /** Empty at levels that do not match visits. */
  readonly fingerprint: string;
}

/** Computes the keys of a device in the database. */
export function deviceKeys(
  traits: DeviceTraits,
  { cookie: keepsCookie, match, level }: Collection,
  key: string,
): DeviceKeys {
  const { workspaceId, cookie, address, userAgent, language, deviceActor } = traits;
  const hasCookie = keepsCookie && !isAutomatic(deviceActor) && cookie !== "";
  return {
    cookieHash: hasCookie ? cookieHashOf(workspaceId, cookie, key) : "",
    // Actor and level are part of it. An agent in a person's browser must not match that person. A visitor who asks for
    // less to be kept must not match the record of one who did not.
    fingerprint: match ? keyed(key, workspaceId, address, userAgent, language, deviceActor, level) : "",
  };
}

/** The key of a device cookie in the database, in hexadecimal. */
export function cookieHashOf(workspaceId: string, cookie: string, key: string): string {
  return keyed(key, workspaceId, cookie);
}

// Header values hold no line breaks, so two different lists of parts never give the same text.
function keyed(...parts: readonly string[]): string {
  return hash("sha256", parts.join("\n"), "hex").slice(0, hashDigits);
}
