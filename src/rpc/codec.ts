import { createGunzip, createInflate } from "node:zlib";
import {
  type DescMethodUnary,
  fromBinary,
  fromJsonString,
  type Message,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import type { BodyHold } from "../lib/body-budget.ts";
import { CallError, fail } from "../lib/errors.ts";

/** How a message is written: protobuf's bytes, or its JSON. */
export type Codec = "proto" | "json";

const inflaters = new Map([
  ["gzip", createGunzip],
  ["deflate", createInflate],
]);

/** The compressions that requests may use. */
export const acceptedEncodings = ["identity", ...inflaters.keys()].join(",");

/** Throws `CallError` when requests of this compression cannot be read at all. */
export function checkEncoding(encoding: string | undefined): void {
  if (!isCompressed(encoding) || inflaters.has(encoding)) return;
  throw fail("UNIMPLEMENTED", "UNIMPLEMENTED", `the message's encoding is not one of ${acceptedEncodings}`);
}

export function isCompressed(encoding: string | undefined): encoding is string {
  return encoding !== undefined && encoding !== "identity" && encoding !== "";
}

/** The bytes without their compression, at most `bytesMax` and as many as there is room for; throws `CallError`. */
export async function inflated(
  bytes: Uint8Array,
  encoding: string | undefined,
  { bytesMax, hold }: { readonly bytesMax: number; readonly hold: BodyHold },
): Promise<Uint8Array> {
  const createInflater = inflaters.get(encoding ?? "");
  if (createInflater === undefined) {
    // The code is the one that gRPC's description of compression asks for.
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
    throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", `the message is not valid ${encoding}`, { cause });
  }
}

export function tooLarge(bytesMax: number): CallError {
  return fail("RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE", `the request message is over ${bytesMax} bytes`);
}

/** The request message of a method; throws `CallError` when the bytes are none. Unknown fields are ignored. */
export function readMessage(method: DescMethodUnary, codec: Codec, bytes: Uint8Array): Message {
  try {
    if (codec === "proto") return fromBinary(method.input, bytes);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return fromJsonString(method.input, text, { ignoreUnknownFields: true });
  } catch (cause) {
    const message = `the message is not a ${method.input.typeName}`;
    throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", message, { cause });
  }
}

export function writeMessage(method: DescMethodUnary, codec: Codec, message: Message): Uint8Array {
  if (codec === "proto") return toBinary(method.output, message);
  return Buffer.from(toJsonString(method.output, message));
}
