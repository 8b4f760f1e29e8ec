import { createGunzip, createInflate } from "node:zlib";
import { CallError, fail } from "../errors.ts";
import type { BodyHold } from "./body-budget.ts";

const inflaters = new Map([
  ["gzip", createGunzip],
  ["deflate", createInflate],
]);

/** The compressions that requests may use. */
export const acceptedEncodings: string = ["identity", ...inflaters.keys()].join(",");

export function isCompressed(encoding: string | undefined): encoding is string {
  return encoding !== undefined && encoding !== "identity" && encoding !== "";
}

/** Whether the service can read requests of this compression. */
export function isKnownEncoding(encoding: string | undefined): boolean {
  return !isCompressed(encoding) || inflaters.has(encoding);
}

/** Decompresses bytes, up to `bytesMax` and as far as `hold` has room; throws `CallError`. */
export async function inflated(
  bytes: Uint8Array,
  encoding: string | undefined,
  { bytesMax, hold }: { readonly bytesMax: number; readonly hold: BodyHold },
): Promise<Uint8Array> {
  const createInflater = inflaters.get(encoding ?? "");
  if (createInflater === undefined) {
    // gRPC's description of compression asks for this code.
    throw fail("INTERNAL", "INVALID_ARGUMENT", "the message is compressed, but no header says how");
  }
  const inflater = createInflater();
  const pieces: Buffer[] = [];
  let length = 0;
  inflater.end(bytes);
  try {
    for await (const piece of inflater) {
      length += piece.length;
      const refusal = length > bytesMax ? tooLarge(bytesMax) : hold.take(piece.length);
      if (refusal !== undefined) throw refusal;
      pieces.push(piece);
    }
    return Buffer.concat(pieces, length);
  } catch (cause) {
    if (cause instanceof CallError) throw cause;
    throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", `the request is not valid ${encoding}`, { cause });
  }
}

/** The refusal of a request over its limit, compressed or not; the same over every protocol. */
export function tooLarge(bytesMax: number): CallError {
  const message = `the request is over the limit of ${bytesMax} bytes`;
  return fail("INVALID_ARGUMENT", "REQUEST_TOO_LARGE", message, { httpStatus: 413 });
}
