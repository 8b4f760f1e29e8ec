import { createGunzip, createInflate } from "node:zlib";
import { create, createRegistry, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { CallError, fail } from "../../lib/errors.ts";
import type { BodyHold } from "../../lib/limits/body-budget.ts";
import { readBinary } from "../../wire/binary.ts";
import { parseJson } from "../../wire/parse-json.ts";
import { createMessageReaders, isJsonObject } from "../../wire/read-message.ts";
import { finishReading, startReading } from "../../wire/reading.ts";
import { type Codec, writeAnswer } from "../records.ts";

export type { Codec } from "../records.ts";

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

// No request has a google.protobuf.Any, whose messages a registry would name.
const readers = createMessageReaders(createRegistry());

/**
 * The request message of a method, read under the bounds of its fields; throws `CallError` when the bytes are none.
 * Unknown fields are ignored.
 */
export function readMessage({ input }: DescMethodUnary, codec: Codec, bytes: Uint8Array): Message {
  if (codec === "json") {
    const json = parseJson(bytes);
    if (!isJsonObject(json))
      throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", "the message must be a JSON object");
    const message = create(input);
    const reading = startReading(bytes.length);
    readers.fill(input, message, json, reading);
    finishReading(reading);
    return message;
  }
  try {
    return readBinary(input, bytes);
  } catch (cause) {
    if (cause instanceof CallError) throw cause;
    const message = `the message is not a ${input.typeName}`;
    throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", message, { cause });
  }
}

export function writeMessage(method: DescMethodUnary, codec: Codec, message: Message): Uint8Array {
  return writeAnswer(codec, method.output, message);
}
