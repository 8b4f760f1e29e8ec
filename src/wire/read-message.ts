import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { type Bounds, boundsOf, depthMax } from "./bounds.ts";
import { enumReader, scalarReader, scalarTextReader } from "./read-scalar.ts";
import { readJsonObject, wellKnownReader } from "./read-well-known.ts";
import {
  absent,
  isOver,
  mapStep,
  noteViolation,
  type Reading,
  type ReadValue,
  refused,
  takeElements,
} from "./reading.ts";

/** The fields of a message by local name. */
export type Fields = Record<string, unknown>;

/** A parsed JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The properties of a message for dynamic access: messages of protobuf-es are plain objects. */
export function fieldsOf(message: Message): Fields {
  // The descriptor guarantees the index signature, which the static type of a generic message cannot express.
  return message as unknown as Fields;
}

export interface MessageReaders {
  /** Reads a JSON value as the field's value in memory: all of a list or map. */
  value(field: DescField): ReadValue;
  /** Reads a JSON value as one element of a list or map, or as the value of any other field. */
  element(field: DescField): ReadValue;
  /**
   * Reads the members of a JSON object into the message. Returns the proto names of the fields that the object gives:
   * known fields with a value other than null or absent. Fields named in `skipped` are treated as unknown.
   */
  fill(
    schema: DescMessage,
    message: Message,
    json: JsonObject,
    reading: Reading,
    skipped?: ReadonlySet<string>,
  ): string[];
}

interface FieldReader {
  readonly field: DescField;
  /** Returns whether a value was given. */
  readonly read: (fields: Fields, json: unknown, reading: Reading) => boolean;
}

type FieldTable = ReadonlyMap<string, FieldReader>;

/**
 * Makes readers of protobuf's JSON, compiled once per message type on first use. They report every
 * bad field with its path and never throw. Unknown members are ignored, null means absent, and of two members for one
 * field the last wins. `registry` knows the messages that may occur in google.protobuf.Any.
 */
export function createMessageReaders(registry: Registry): MessageReaders {
  const tables = new Map<DescMessage, FieldTable>();

  function tableOf(schema: DescMessage): FieldTable {
    let table = tables.get(schema);
    if (table === undefined) {
      const entries = new Map<string, FieldReader>();
      // Registered before the fields are compiled, so that messages may contain themselves.
      table = entries;
      tables.set(schema, table);
      for (const field of schema.fields) {
        const reader = { field, read: fieldReader(field, valueReader(field)) };
        entries.set(field.name, reader).set(field.jsonName, reader);
      }
    }
    return table;
  }

  function valueReader(field: DescField): ReadValue {
    switch (field.fieldKind) {
      case "list":
        return listReader(boundsOf(field), elementReader(field));
      case "map":
        return mapReader(field, boundsOf(field), elementReader(field));
      default:
        return elementReader(field);
    }
  }

  function elementReader(field: DescField): ReadValue {
    if (field.enum !== undefined) return enumReader(field.enum);
    if (field.message !== undefined) return messageReader(field.message, field);
    return scalarReader(field.scalar, "longAsString" in field && field.longAsString, boundsOf(field).size);
  }

  function messageReader(schema: DescMessage, field: DescField): ReadValue {
    if (isPlainStruct(field)) return readJsonObject;
    if (isWrapperDesc(schema)) return wrapperReader(schema, isUnwrapped(field));
    return wellKnownReader(schema, registry) ?? objectReader(schema, tableOf);
  }

  return {
    value: valueReader,
    element: elementReader,
    fill: (schema, message, json, reading, skipped) =>
      fillMessage(tableOf(schema), message, json, reading, skipped),
  };
}

/** The table is compiled with the first object, so that messages may contain themselves. */
function objectReader(schema: DescMessage, tableOf: (schema: DescMessage) => FieldTable): ReadValue {
  let table: FieldTable | undefined;
  return (json, reading, name) => {
    if (!isJsonObject(json)) return noteViolation(reading, name, "must be an object");
    if (reading.at.length >= depthMax) return noteViolation(reading, name, "is nested too deeply");
    table ??= tableOf(schema);
    const message = create(schema);
    const fields = fieldsOf(message);
    reading.at.push(name);
    for (const key of Object.keys(json)) {
      if (isOver(reading)) break;
      const value = json[key];
      if (value !== null) table.get(key)?.read(fields, value, reading);
    }
    reading.at.pop();
    return message;
  };
}

function fillMessage(
  table: FieldTable,
  message: Message,
  json: JsonObject,
  reading: Reading,
  skipped?: ReadonlySet<string>,
): string[] {
  const fields = fieldsOf(message);
  const given = new Set<string>();
  for (const key of Object.keys(json)) {
    const value = json[key];
    const reader = table.get(key);
    if (value === null || reader === undefined || skipped?.has(reader.field.name)) continue;
    if (isOver(reading)) break;
    if (reader.read(fields, value, reading)) given.add(reader.field.name);
  }
  return [...given];
}

/** Whether a field's value is a JSON object of any shape rather than a Struct message. */
export function isPlainStruct(field: DescField): boolean {
  return (
    field.message?.typeName === "google.protobuf.Struct" && field.parent.typeName !== "google.protobuf.Value"
  );
}

/** Whether a field of a wrapper type holds the bare value: singular and in no oneof. */
export function isUnwrapped(field: DescField): boolean {
  return field.fieldKind === "message" && field.oneof === undefined;
}

export function isJsonObject(json: unknown): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function fieldReader(field: DescField, readValue: ReadValue): FieldReader["read"] {
  const { jsonName, localName } = field;
  const oneof = field.oneof;
  if (oneof === undefined) {
    return (fields, json, reading) => {
      const value = readValue(json, reading, jsonName);
      if (value === absent || value === refused) return false;
      fields[localName] = value;
      return true;
    };
  }
  return (fields, json, reading) => {
    const value = readValue(json, reading, jsonName);
    if (value === absent || value === refused) return false;
    return setOneof(fields, field, value, reading);
  };
}

/** Sets a member of a oneof; refuses it when another member is set already. Returns whether it was set. */
export function setOneof(fields: Fields, field: DescField, value: unknown, reading: Reading): boolean {
  const { oneof, localName, jsonName } = field;
  if (oneof === undefined) return false;
  const chosen = caseOf(fields, field);
  if (chosen !== undefined && chosen !== localName) {
    const other = oneof.fields.find((each) => each.localName === chosen);
    noteViolation(reading, jsonName, `must not be given together with ${other?.jsonName ?? chosen}`);
    return false;
  }
  fields[oneof.localName] = { case: localName, value };
  return true;
}

/** The local name of the set member in the field's oneof. */
export function caseOf(fields: Fields, field: DescField): string | undefined {
  // A oneof is always present as `{case, value}`.
  return (fields[field.oneof?.localName ?? ""] as { case: string | undefined }).case;
}

function listReader({ itemsMax }: Bounds, readElement: ReadValue): ReadValue {
  return (json, reading, name) => {
    if (!Array.isArray(json)) return noteViolation(reading, name, "must be a list");
    if (json.length > itemsMax) return noteViolation(reading, name, `must have at most ${itemsMax} items`);
    if (!takeElements(reading, name, json.length)) return refused;
    const list: unknown[] = [];
    reading.at.push(name);
    for (let index = 0; index < json.length && !isOver(reading); index++) {
      const element: unknown = json[index];
      const value =
        element === null
          ? noteViolation(reading, index, "must not be null")
          : readElement(element, reading, index);
      // An unspecified element keeps its place, so that the rules refuse it: dropping it would change the list's
      // meaning.
      if (value !== refused) list.push(value === absent ? 0 : value);
    }
    reading.at.pop();
    return list;
  };
}

function mapReader(
  field: DescField & { fieldKind: "map" },
  { itemsMax, keySize }: Bounds,
  readElement: ReadValue,
): ReadValue {
  const readKey =
    field.mapKey === ScalarType.STRING
      ? scalarReader(ScalarType.STRING, false, keySize)
      : scalarTextReader(field.mapKey, true, keySize);
  return (json, reading, name) => {
    if (!isJsonObject(json)) return noteViolation(reading, name, "must be an object");
    const keys = Object.keys(json);
    if (keys.length > itemsMax) return noteViolation(reading, name, `must have at most ${itemsMax} entries`);
    if (!takeElements(reading, name, keys.length)) return refused;
    const map: Fields = {};
    reading.at.push(name);
    for (const key of keys) {
      if (isOver(reading)) break;
      const element = json[key];
      if (element === null) continue;
      const step = mapStep(key);
      const readKeyValue = readKey(key, reading, step);
      const value = readElement(element, reading, step);
      if (readKeyValue !== refused && value !== refused && value !== absent)
        setOwn(map, String(readKeyValue), value);
    }
    reading.at.pop();
    return map;
  };
}

/**
 * Sets a property of a map under a client's key; plain assignment of `__proto__` would change the prototype instead.
 */
function setOwn(map: Fields, key: string, value: unknown): void {
  if (key !== "__proto__") map[key] = value;
  else Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
}

function wrapperReader(schema: DescMessage, unwrapped: boolean): ReadValue {
  const field = schema.fields[0];
  if (field?.fieldKind !== "scalar") throw new Error(`${schema.typeName} is not a wrapper`);
  const read = scalarReader(field.scalar, field.longAsString, boundsOf(field).size);
  if (unwrapped) return read;
  return (json, reading, name) => {
    const value = read(json, reading, name);
    if (value === refused) return refused;
    const message = create(schema);
    fieldsOf(message)[field.localName] = value;
    return message;
  };
}
