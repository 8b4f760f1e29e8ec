import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** What a challenge is for, and the browser or session that may answer it. */
export interface ChallengePlace {
  readonly purpose: "register" | "sign-in";
  readonly boundTo: string;
}

/** How long a person may take to use an authenticator, in milliseconds. */
const lifeMs = 5 * 60_000;

/**
 * Makes a challenge for an authenticator: its time, 16 random bytes, and a MAC over both, its purpose and its browser. So
 * the pages of strangers keep nothing in the database.
 */
export function passkeyChallenge(key: Uint8Array, place: ChallengePlace, at: Date): Uint8Array<ArrayBuffer> {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(at.getTime()));
  const head = Buffer.concat([time, randomBytes(16)]);
  return new Uint8Array(Buffer.concat([head, macOf(key, place, head)]));
}

/** When a challenge was made; undefined when it is not ours, too old, or of another purpose or browser. */
export function challengeTime(
  key: Uint8Array,
  place: ChallengePlace,
  challenge: string,
  now: Date,
): Date | undefined {
  const bytes = Buffer.from(challenge, "base64url");
  if (bytes.length !== 40) return undefined;
  const head = bytes.subarray(0, 24);
  if (!timingSafeEqual(macOf(key, place, head), bytes.subarray(24))) return undefined;
  const at = new Date(Number(head.readBigUInt64BE(0)));
  return now.getTime() - at.getTime() <= lifeMs ? at : undefined;
}

function macOf(key: Uint8Array, { purpose, boundTo }: ChallengePlace, head: Uint8Array): Buffer {
  return createHmac("sha256", key).update(`${purpose} ${boundTo}\n`).update(head).digest().subarray(0, 16);
}
