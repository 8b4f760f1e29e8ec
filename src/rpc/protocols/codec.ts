import { create, createRegistry, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { CallError, fail } from "../../lib/errors.ts";
import { acceptedEncodings, isKnownEncoding } from "../../lib/limits/inflated.ts";
import { readBinary } from "../../wire/binary.ts";
import { parseJson } from "../../wire/parse-json.ts";
import { createMessageReaders, isJsonObject } from "../../wire/read-message.ts";
import { finishReading, startReading } from "../../wire/reading.ts";
import { type Codec, writeAnswer } from "../records.ts";

export type { Codec } from "../records.ts";

/** Throws `CallError` when the service cannot read this compression at all. */
export function checkEncoding(encoding: string | undefined): void {
  if (isKnownEncoding(encoding)) return;
  throw fail("UNIMPLEMENTED", "UNIMPLEMENTED", `the message's encoding is not one of ${acceptedEncodings}`);
}

// The registry is empty: it would only name the messages in a google.protobuf.Any, which no request has.
const readers = createMessageReaders(createRegistry());

/**
 * Reads the request message of a method within the bounds of its fields. Throws `CallError` when the bytes are no such
 * message. Ignores unknown fields.
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
