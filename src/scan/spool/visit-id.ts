import { randomFillSync } from "node:crypto";

/** Makes the id of a visit: the 16 bytes of a UUIDv7 of the given millisecond. The bytes belong to the caller. */
export type NewVisitId = (atMs: number) => Buffer;

const poolSize = 8_192;
const randomBytesPerId = 10;

/**
 * Takes ids from a pool of random bytes: 0.2 µs each, against 3 µs with the general generator, which is a tenth of a
 * redirect. All 74 free bits are random. Visits of the same millisecond have no order.
 */
export function createVisitIds(): NewVisitId {
  const pool = Buffer.allocUnsafe(poolSize);
  let used = poolSize;
  return (atMs) => {
    if (used + randomBytesPerId > poolSize) {
      randomFillSync(pool);
      used = 0;
    }
    const id = Buffer.allocUnsafe(16);
    id.writeUIntBE(atMs, 0, 6);
    pool.copy(id, 6, used, used + randomBytesPerId);
    used += randomBytesPerId;
    id[6] = 0x70 | ((id[6] ?? 0) & 0x0f);
    id[8] = 0x80 | ((id[8] ?? 0) & 0x3f);
    return id;
  };
}

/** The text of an id's 16 bytes. */
export function textOfId(id: Uint8Array): string {
  const hex = Buffer.from(id.buffer, id.byteOffset, 16).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The millisecond at which an id was made, from its text. */
export function timeOfId(text: string): number {
  return Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16);
}

/** The id as visitors carry it: base64url without padding, 22 characters. */
export function lbidOf(id: Buffer): string {
  return id.toString("base64url");
}
