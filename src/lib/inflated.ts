import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { type CallError, fail } from "./errors.ts";

const inflaters = new Map([
  ["gzip", promisify(gunzip)],
  ["deflate", promisify(inflate)],
]);

/** The compressions that requests may use. */
export const acceptedEncodings: string = ["identity", ...inflaters.keys()].join(",");

export function isCompressed(encoding: string | undefined): encoding is string {
  return encoding !== undefined && encoding !== "identity" && encoding !== "";
}

/** Whether requests of this compression can be read. */
export function isReadable(encoding: string | undefined): boolean {
  return !isCompressed(encoding) || inflaters.has(encoding);
}

/** The bytes without their compression, at most `bytesMax`, beyond which nothing is unpacked; throws `CallError`. */
export async function inflated(
  bytes: Uint8Array,
  encoding: string | undefined,
  bytesMax: number,
): Promise<Uint8Array> {
  const inflater = inflaters.get(encoding ?? "");
  if (inflater === undefined) {
    // The code is the one that gRPC's description of compression asks for.
    throw fail("INTERNAL", "INVALID_ARGUMENT", "the message is compressed, but no header says how");
  }
  try {
    return await inflater(bytes, { maxOutputLength: bytesMax });
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(bytesMax);
    throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", `the request is not valid ${encoding}`, { cause });
  }
}

/** The refusal of a request that is over its limit, compressed or unpacked; the same over every protocol. */
export function tooLarge(bytesMax: number): CallError {
  const message = `the request is over the limit of ${bytesMax} bytes`;
  return fail("INVALID_ARGUMENT", "REQUEST_TOO_LARGE", message, { httpStatus: 413 });
}
