import {
  type DescMethodUnary,
  fromBinary,
  fromJsonString,
  type Message,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { fail } from "../lib/errors.ts";
import { acceptedEncodings, isReadable } from "../lib/inflated.ts";

/** How a message is written: protobuf's bytes, or its JSON. */
export type Codec = "proto" | "json";

/** Throws `CallError` when requests of this compression cannot be read at all. */
export function checkEncoding(encoding: string | undefined): void {
  if (isReadable(encoding)) return;
  throw fail("UNIMPLEMENTED", "UNIMPLEMENTED", `the message's encoding is not one of ${acceptedEncodings}`);
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
