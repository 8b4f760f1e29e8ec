import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type Message,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { caseOf, type Fields, fieldsOf, isPlainStruct, isUnwrapped } from "../wire/read-message.ts";
import { wellKnownWriter } from "./write-well-known.ts";

/** Turns a field's value in memory into JSON text. */
export type WriteValue = (value: unknown) => string;

/** JSON as text, or as its bytes in UTF-8. */
export type Json = string | Uint8Array;

export interface MessageWriters {
  /** The whole message as a JSON object. */
  message(schema: DescMessage): (message: Message) => Json;
  /** One field of a message as the whole answer; an unset message is `{}`. */
  field(field: DescField): (message: Message) => Json;
  /** Writes a message before the list that will hold it. Returns the length of the JSON in bytes. */
  record(schema: DescMessage, message: Message): number;
}

/** Returns `"name":value`, or the empty string when the field is left out. */
type WriteMember = (fields: Fields) => string;

/** Text that needs no escape in JSON: no quote, backslash, control character or half of a surrogate pair. */
const barePattern = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/**
 * Makes writers of protobuf's JSON. They are compiled once per message type, on first use. They write defaults, leave
 * out unset fields with presence, and write no field as `null`. `registry` knows the messages that may occur in
 * google.protobuf.Any. Fields that `leavesOut` names are never written.
 */
export function createMessageWriters(
  registry: Registry,
  leavesOut: (field: DescField) => boolean = () => false,
): MessageWriters {
  const objects = new Map<DescMessage, WriteValue>();
  const { keep, take, joined } = writtenRecords();

  function objectWriter(schema: DescMessage): WriteValue {
    const known = objects.get(schema);
    if (known !== undefined) return known;
    const members: WriteMember[] = [];
    const write = membersWriter(members);
    // Registered before the fields are compiled, so that messages may contain themselves.
    objects.set(schema, write);
    for (const field of schema.fields) {
      if (!leavesOut(field)) members.push(memberWriter(field, valueWriter(field)));
    }
    return write;
  }

  function valueWriter(field: DescField): WriteValue {
    const writeElement = elementWriter(field);
    if (field.fieldKind === "list")
      return listWriter(field.message ? unlessWritten(writeElement) : writeElement);
    return field.fieldKind === "map" ? mapWriter(writeElement) : writeElement;
  }

  function elementWriter(field: DescField): WriteValue {
    if (field.enum !== undefined) return enumWriter(field.enum);
    if (field.message === undefined) return scalarWriter(field.scalar);
    if (isPlainStruct(field)) return (value) => JSON.stringify(value);
    if (isWrapperDesc(field.message)) return wrapperWriter(field.message, isUnwrapped(field));
    return messageWriter(field.message);
  }

  function unlessWritten(write: WriteValue): WriteValue {
    // The descriptor says that messages stand here.
    return (value) => take(value as object) ?? write(value);
  }

  function messageWriter(schema: DescMessage): WriteValue {
    return wellKnownWriter(schema, registry) ?? objectWriter(schema);
  }

  return {
    message(schema) {
      const write = messageWriter(schema);
      return (message) => joined(() => write(message));
    },
    field(field) {
      const write = valueWriter(field);
      return (message) => {
        const value = fieldsOf(message)[field.localName];
        return value === undefined ? "{}" : joined(() => write(value));
      };
    },
    record: (schema, message) => keep(message, () => messageWriter(schema)(message)),
  };
}

/**
 * A record of more characters is kept as bytes. To convert a whole answer to bytes at once would block the event loop.
 */
const keptAsTextMax = 1024;

/** Stands for a record that is kept as bytes. JSON never contains this character, even in strings. */
const place = "\0";

/** Records that were written before the answer that holds them. */
function writtenRecords() {
  // The JSON of a record is kept as long as the record itself, which lives as long as its answer.
  const records = new WeakMap<object, Json>();
  let taken: Uint8Array[] = [];

  /** Returns what `write` returns, with the taken records in their places. */
  function joined(write: () => string): Json {
    taken = [];
    const json = write();
    if (taken.length === 0) return json;
    const pieces = json
      .split(place)
      .flatMap((text, index) => [Buffer.from(text), ...taken.slice(index, index + 1)]);
    return Buffer.concat(pieces);
  }

  return {
    joined,
    /** Keeps the JSON of a record. Returns its length in bytes. */
    keep(record: object, write: () => string): number {
      const json = joined(write);
      const kept = json.length > keptAsTextMax ? Buffer.from(json) : json;
      records.set(record, kept);
      return Buffer.byteLength(kept);
    },
    /**
     * Returns the text that stands for the record in the JSON of its answer. Undefined when the record was not kept.
     */
    take(record: object): string | undefined {
      const kept = records.get(record);
      if (typeof kept !== "object") return kept;
      taken.push(kept);
      return place;
    },
  };
}

function membersWriter(members: readonly WriteMember[]): WriteValue {
  return (value) => {
    // The descriptor guarantees that this value is a message.
    const fields = value as Fields;
    let json = "";
    for (const writeMember of members) {
      const member = writeMember(fields);
      if (member !== "") json += json === "" ? member : `,${member}`;
    }
    return `{${json}}`;
  };
}

function memberWriter(field: DescField, writeValue: WriteValue): WriteMember {
  const { localName } = field;
  const key = `${JSON.stringify(field.jsonName)}:`;
  const oneof = field.oneof;
  if (oneof === undefined) {
    return (fields) => {
      const value = fields[localName];
      return value === undefined ? "" : key + writeValue(value);
    };
  }
  return (fields) => {
    if (caseOf(fields, field) !== localName) return "";
    // The case was compared just now, so this is the value of this member.
    return key + writeValue((fields[oneof.localName] as { value: unknown }).value);
  };
}

function listWriter(writeElement: WriteValue): WriteValue {
  return (value) => {
    let json = "";
    // The descriptor guarantees that this value is a list.
    for (const element of value as readonly unknown[]) {
      json += json === "" ? writeElement(element) : `,${writeElement(element)}`;
    }
    return `[${json}]`;
  };
}

function mapWriter(writeElement: WriteValue): WriteValue {
  return (value) => {
    let json = "";
    // The descriptor guarantees that this value is a map.
    const map = value as Fields;
    for (const key of Object.keys(map)) {
      const member = `${writeString(key)}:${writeElement(map[key])}`;
      json += json === "" ? member : `,${member}`;
    }
    return `{${json}}`;
  };
}

function enumWriter(schema: DescEnum): WriteValue {
  const names = new Map<unknown, string>();
  for (const { number, jsonName } of schema.values) {
    if (!names.has(number)) names.set(number, JSON.stringify(jsonName));
  }
  return (value) => names.get(value) ?? String(value);
}

function wrapperWriter(schema: DescMessage, unwrapped: boolean): WriteValue {
  const field = schema.fields[0];
  if (field?.fieldKind !== "scalar") throw new Error(`${schema.typeName} is not a wrapper`);
  const write = scalarWriter(field.scalar);
  // The descriptor guarantees that this value is a wrapper.
  return unwrapped ? write : (value) => write((value as Fields)[field.localName]);
}

function scalarWriter(scalar: ScalarType): WriteValue {
  switch (scalar) {
    case ScalarType.STRING:
      return writeString;
    case ScalarType.BYTES:
      return writeBytes;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return (value) => (Number.isFinite(value) ? String(value) : `"${value}"`);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return (value) => `"${value}"`;
    default:
      return String;
  }
}

function writeString(value: unknown): string {
  // The descriptor guarantees that this value is a string.
  const text = value as string;
  return text.length < 64 && barePattern.test(text) ? `"${text}"` : JSON.stringify(text);
}

function writeBytes(value: unknown): string {
  // The descriptor guarantees that this value is bytes.
  const bytes = value as Uint8Array;
  return `"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")}"`;
}
