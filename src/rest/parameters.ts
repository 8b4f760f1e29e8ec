import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { boundsOf, depthMax } from "../wire/bounds.ts";
import { caseOf, type Fields, fieldsOf, type MessageReaders, setOneof } from "../wire/read-message.ts";
import { enumTextReader, scalarTextReader } from "../wire/read-scalar.ts";
import { absent, isOver, noteViolation, type Reading, type ReadValue, refused } from "../wire/reading.ts";
import type { BoundVariable } from "./binding.ts";
import { decodeComponent } from "./template.ts";

export interface ParameterReaders {
  /**
   * Reads a query (without the question mark) into the message. Names are dotted paths in camelCase or snake_case.
   * Names in `excluded`, as dotted proto paths, and names of no field are ignored. An empty value counts as absent. The
   * last of several values for a single field wins; lists take all values, each split at commas.
   */
  query(
    schema: DescMessage,
    message: Message,
    query: string,
    excluded: ReadonlySet<string>,
    reading: Reading,
  ): void;
  /** Reads the path components of a variable, still percent-encoded, into its field. */
  variable(message: Message, variable: BoundVariable, segments: readonly string[], reading: Reading): void;
}

/** Makes the readers of path and query parameters; they report every bad field and never throw. */
export function createParameterReaders(readers: MessageReaders): ParameterReaders {
  const textReaders = new Map<DescField, TextReader>();

  function textReader(field: DescField): TextReader {
    let reader = textReaders.get(field);
    if (reader === undefined) {
      reader = { read: compileTextReader(field, readers), itemsMax: boundsOf(field).itemsMax };
      textReaders.set(field, reader);
    }
    return reader;
  }

  return {
    query(schema, message, query, excluded, reading) {
      for (const pair of query.split("&")) {
        if (isOver(reading)) break;
        const parameter = parsePair(pair);
        if (parameter === undefined) continue;
        if (parameter.steps.length > depthMax) {
          noteViolation(reading, parameter.steps.slice(0, 3).join("."), "is nested too deeply");
          continue;
        }
        const path = resolvePath(schema, parameter.steps, excluded);
        const field = path?.at(-1);
        if (path === undefined || field === undefined) continue;
        const fields = descend(message, path, reading);
        if (fields !== undefined) setText(fields, field, parameter.value, textReader(field), reading);
        reading.at.length = 0;
      }
    },
    variable(message, { fields: path, start, end }, segments, reading) {
      const field = path.at(-1);
      const fields = descend(message, path, reading);
      if (field !== undefined && fields !== undefined) {
        const raw = segments.slice(start, end);
        const text = end === start + 1 ? decodeComponent(raw[0] ?? "") : decodeComponents(raw);
        setText(fields, field, text, textReader(field), reading);
      }
      reading.at.length = 0;
    },
  };
}

interface TextReader {
  /** Undefined for fields that a parameter cannot give. */
  readonly read: ReadValue | undefined;
  /** How many elements the field may have. */
  readonly itemsMax: number;
}

interface Parameter {
  readonly steps: readonly string[];
  /** Undefined when the percent-escapes are malformed. */
  readonly value: string | undefined;
}

function parsePair(pair: string): Parameter | undefined {
  const equals = pair.indexOf("=");
  if (equals <= 0 || equals === pair.length - 1) return undefined;
  const name = decodeComponent(pair.slice(0, equals).replaceAll("+", " "));
  if (name === undefined) return undefined;
  return { steps: name.split("."), value: decodeComponent(pair.slice(equals + 1).replaceAll("+", " ")) };
}

function findField(schema: DescMessage, name: string): DescField | undefined {
  return schema.fields.find((field) => field.jsonName === name || field.name === name);
}

/** Finds the fields along a parameter's name; undefined when the name leads to no field or to an excluded one. */
function resolvePath(
  schema: DescMessage,
  steps: readonly string[],
  excluded: ReadonlySet<string>,
): DescField[] | undefined {
  const path: DescField[] = [];
  let protoPath = "";
  let message: DescMessage | undefined = schema;
  for (const step of steps) {
    const field: DescField | undefined = message === undefined ? undefined : findField(message, step);
    if (field === undefined) return undefined;
    protoPath += protoPath === "" ? field.name : `.${field.name}`;
    if (excluded.has(protoPath)) return undefined;
    path.push(field);
    message = field.fieldKind === "message" && isObjectInJson(field.message) ? field.message : undefined;
  }
  return path;
}

function isObjectInJson(message: DescMessage): boolean {
  return !message.typeName.startsWith("google.protobuf.") || message.typeName === "google.protobuf.Empty";
}

/**
 * Makes the messages on the way to the last field. Returns the last message's fields, with the reader at that place;
 * undefined when a oneof on the way holds another member.
 */
function descend(message: Message, path: readonly DescField[], reading: Reading): Fields | undefined {
  let fields = fieldsOf(message);
  for (const field of path.slice(0, -1)) {
    if (field.message === undefined) return undefined;
    const child = field.oneof === undefined ? fields[field.localName] : memberOf(fields, field);
    const next = (child ?? create(field.message)) as Fields;
    if (child === undefined && field.oneof === undefined) fields[field.localName] = next;
    if (child === undefined && field.oneof !== undefined && !setOneof(fields, field, next, reading))
      return undefined;
    reading.at.push(field.jsonName);
    fields = next;
  }
  return fields;
}

function memberOf(fields: Fields, field: DescField): unknown {
  if (caseOf(fields, field) !== field.localName) return undefined;
  // The line above has compared the case.
  return (fields[field.oneof?.localName ?? ""] as { value: unknown }).value;
}

function setText(
  fields: Fields,
  field: DescField,
  text: string | undefined,
  { read, itemsMax }: TextReader,
  reading: Reading,
): void {
  const { jsonName, localName } = field;
  if (text === undefined) noteViolation(reading, jsonName, "has a malformed percent-escape");
  else if (read === undefined) noteViolation(reading, jsonName, "cannot be given as a parameter");
  else if (field.fieldKind === "list") {
    // A message always has its lists.
    const list = fields[localName] as unknown[];
    const items = text.split(",", itemsMax + 1);
    if (list.length + items.length > itemsMax) {
      noteViolation(reading, jsonName, `must have at most ${itemsMax} items`);
      return;
    }
    for (const item of items) {
      const value = item === "" ? absent : read(item, reading, jsonName);
      if (value !== absent && value !== refused) list.push(value);
    }
  } else {
    const value = read(text, reading, jsonName);
    if (value === absent || value === refused) return;
    if (field.oneof === undefined) fields[localName] = value;
    else setOneof(fields, field, value, reading);
  }
}

function compileTextReader(field: DescField, readers: MessageReaders): ReadValue | undefined {
  if (field.fieldKind === "map") return undefined;
  if (field.enum !== undefined) return enumTextReader(field.enum);
  const { size } = boundsOf(field);
  if (field.message === undefined) return scalarTextReader(field.scalar, field.longAsString, size);
  if (isWrapperDesc(field.message)) {
    const inner = field.message.fields[0];
    const isBare = field.fieldKind === "message" && field.oneof === undefined;
    if (inner?.fieldKind === "scalar" && isBare)
      return scalarTextReader(inner.scalar, inner.longAsString, size);
    return readers.element(field);
  }
  switch (field.message.typeName) {
    case "google.protobuf.Timestamp":
      return timestampTextReader(readers.element(field));
    case "google.protobuf.Duration":
    case "google.protobuf.FieldMask":
      return readers.element(field);
    default:
      return undefined;
  }
}

/** Reads a timestamp whose unencoded plus sign was decoded to a space; timestamps have no space there otherwise. */
function timestampTextReader(read: ReadValue): ReadValue {
  return (text, reading, name) => read(String(text).replace(/ (?=\d\d:?\d\d$)/, "+"), reading, name);
}

/** Decodes several components except for `%2F`, so that it stays distinct from `/`. */
function decodeComponents(raw: readonly string[]): string | undefined {
  const decoded: string[] = [];
  for (const component of raw) {
    const parts = component
      .split(/(%2[Ff])/)
      .map((part, index) => (index % 2 === 1 ? part : decodeComponent(part)));
    if (parts.includes(undefined)) return undefined;
    decoded.push(parts.join(""));
  }
  return decoded.join("/");
}
