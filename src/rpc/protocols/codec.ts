import { create, createRegistry, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { CallError, fail } from "../../lib/errors.ts";
import { acceptedEncodings, isKnownEncoding } from "../../lib/limits/inflated.ts";
import { readBinary } from "../../wire/binary.ts";
import { parseJson } from "../../wire/parse-json.ts";
import { createMessageReaders, isJsonObject } from "../../wire/read-message.ts";
import { finishReading, startReading } from "../../wire/reading.ts";
import { type Codec, writeAnswer } from "../records.ts";

export type { Codec } from "../records.ts";

/** Throws `CallError` when requests of this compression cannot be read at all. */
export function checkEncoding(encoding: string | undefined): void {
  if (isKnownEncoding(encoding)) return;
  throw fail("UNIMPLEMENTED", "UNIMPLEMENTED", `the message's encoding is not one of ${acceptedEncodings}`);
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
