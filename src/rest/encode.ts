import type { DescField, DescMessage, Message, Registry } from "@bufbuild/protobuf";
import type { HttpBody } from "../../gen/google/api/httpbody_pb.js";
import { fieldsOf } from "../wire/read-message.ts";
import { type Binding, isHttpBody } from "./binding.ts";
import { createMessageWriters, type Json } from "./write-message.ts";

/** The body of an answer and its media type. */
export interface Payload {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/** Turns a response message into the payload. Throws only on messages that break their schema. */
export type Encode = (message: Message) => Payload;

export interface Encoders {
  /** Compiles the encoder of a binding: JSON of the message or of its `response_body`, or the bytes of an HttpBody. */
  encoderOf(binding: Binding): Encode;
  /** Writes a message of a stream. */
  writePart(schema: DescMessage, part: Message): Json;
  /** Writes a record for the answer that will hold it, and returns its bytes. */
  writeRecord(schema: DescMessage, record: Message): number;
}

/** Makes encoders of answers. Fields that `leavesOut` names are never written. */
export function createEncoders(registry: Registry, leavesOut?: (field: DescField) => boolean): Encoders {
  const writers = createMessageWriters(registry, leavesOut);
  const encoderOf = ({ method, responseField }: Binding): Encode => {
    if (responseField === undefined) {
      if (isHttpBody(method.output)) return rawPayload;
      return jsonEncoder(writers.message(method.output));
    }
    const { localName } = responseField;
    if (responseField.fieldKind === "message" && isHttpBody(responseField.message)) {
      return (message) => rawPayload(fieldsOf(message)[localName] ?? emptyBody);
    }
    return jsonEncoder(writers.field(responseField));
  };
  const writePart = (schema: DescMessage, part: Message) => writers.message(schema)(part);
  return { encoderOf, writePart, writeRecord: writers.record };
}

const emptyBody = { contentType: "", data: new Uint8Array() };

function jsonEncoder(write: (message: Message) => Json): Encode {
  return (message) => ({ contentType: "application/json", body: write(message) });
}

function rawPayload(value: unknown): Payload {
  // The descriptor guarantees that this value is an HttpBody.
  const { contentType, data } = value as Pick<HttpBody, "contentType" | "data">;
  return { contentType: contentType === "" ? "application/octet-stream" : contentType, body: data };
}
