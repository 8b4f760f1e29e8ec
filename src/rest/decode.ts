import { create, type DescField, type DescMessage, type Message, type Registry } from "@bufbuild/protobuf";
import { type FieldMask, FieldMaskSchema, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { HttpBodySchema } from "../../gen/google/api/httpbody_pb.js";
import { fail } from "../lib/errors.ts";
import { parseJson } from "../wire/parse-json.ts";
import {
  createMessageReaders,
  fieldsOf,
  isJsonObject,
  type JsonObject,
  type MessageReaders,
} from "../wire/read-message.ts";
import { absent, finishReading, type Reading, refused, startReading } from "../wire/reading.ts";
import type { Binding } from "./binding.ts";
import { createParameterReaders } from "./parameters.ts";

/** A routed request whose body is within its limits. */
export interface RawRequest {
  /** The path's components, still percent-encoded, without the verb. */
  readonly segments: readonly string[];
  /** The part of the URL after the question mark. */
  readonly query: string;
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
}

/** Makes the request message. Throws a CallError that lists every bad field of body, query and path. */
export type Decode = (raw: RawRequest) => Message;

/** Reads the body into the message and returns the proto names of the fields it gave, for the mask. */
type ReadBody = (message: Message, raw: RawRequest, reading: Reading) => readonly string[];

/**
 * Compiles decoders for bindings. Values of the path override those of the body and the query. With `body: "*"` there
 * are no query parameters. On PATCH and PUT an `update_mask` without paths is filled with the fields that the body
 * gave.
 */
export function createDecoders(registry: Registry): (binding: Binding) => Decode {
  const readers = createMessageReaders(registry);
  const parameters = createParameterReaders(readers);
  return (binding) => {
    const { body, maskField, variables } = binding;
    const { input } = binding.method;
    const readBody = bodyReader(binding, readers);
    const excluded = new Set(variables.map(({ fieldPath }) => fieldPath.join(".")));
    if (body.kind === "field" || body.kind === "raw") excluded.add(body.field?.name ?? "");
    const hasParameters = body.kind !== "message" && !(body.kind === "raw" && body.field === undefined);
    return (raw) => {
      const message = create(input);
      const reading = startReading(raw.body.length);
      const given = readBody(message, raw, reading);
      if (hasParameters && raw.query !== "") parameters.query(input, message, raw.query, excluded, reading);
      for (const variable of variables) parameters.variable(message, variable, raw.segments, reading);
      finishReading(reading);
      if (maskField !== undefined) fillMask(message, maskField, given);
      return message;
    };
  };
}

/** Makes the request message of one JSON object that also has the fields of path and query. */
export type DecodeWhole = (json: JsonObject, bytes: number) => Message;

/**
 * Compiles decoders for requests that come as one JSON object of `bytes` bytes. As over REST, an `update_mask` without paths is
 * filled with the fields that are given, except those of the path.
 */
export function createWholeDecoders(registry: Registry): (binding: Binding) => DecodeWhole {
  const readers = createMessageReaders(registry);
  return ({ method, maskField, variables }) => {
    const ofPath = new Set(variables.map(({ fields }) => fields[0].name));
    return (json, bytes) => {
      const message = create(method.input);
      const reading = startReading(bytes);
      const given = readers.fill(method.input, message, json, reading);
      finishReading(reading);
      if (maskField !== undefined)
        fillMask(
          message,
          maskField,
          given.filter((name) => !ofPath.has(name)),
        );
      return message;
    };
  };
}

function fillMask(message: Message, maskField: DescField, given: readonly string[]): void {
  const fields = fieldsOf(message);
  // The binding has checked that this field is a FieldMask.
  const mask = fields[maskField.localName] as FieldMask | undefined;
  if (mask !== undefined && mask.paths.length > 0) return;
  const paths = given.filter((name) => name !== maskField.name);
  fields[maskField.localName] = create(FieldMaskSchema, { paths });
}

function bodyReader(binding: Binding, readers: MessageReaders): ReadBody {
  const { body, variables, method } = binding;
  switch (body.kind) {
    case "none":
      return (_, raw) => {
        // The body is unused, but a body that is no JSON object is a mistake worth reporting.
        parseObject(raw.body);
        return [];
      };
    case "message": {
      const skipped = new Set(
        variables.filter(({ fields }) => fields.length === 1).map(({ fields }) => fields[0].name),
      );
      return (message, raw, reading) =>
        readers.fill(method.input, message, parseObject(raw.body), reading, skipped);
    }
    case "field":
      return isReadAsObject(body.field)
        ? messageFieldReader(body.field, body.field.message, binding, readers)
        : valueFieldReader(body.field, readers);
    case "raw":
      return (message, raw) => {
        const content = { contentType: raw.contentType ?? "", data: raw.body };
        if (body.field === undefined) Object.assign(message, content);
        else fieldsOf(message)[body.field.localName] = create(HttpBodySchema, content);
        return body.field === undefined ? [] : [body.field.name];
      };
  }
}

function isReadAsObject(field: DescField): field is DescField & { fieldKind: "message" } {
  if (field.fieldKind !== "message" || field.oneof !== undefined) return false;
  return !isWrapperDesc(field.message) && !field.message.typeName.startsWith("google.protobuf.");
}

/** The body is one field's message: its keys become the mask's paths, relative to that message (google.aip.dev/134). */
function messageFieldReader(
  field: DescField,
  schema: DescMessage,
  { variables }: Binding,
  readers: MessageReaders,
): ReadBody {
  const skipped = new Set<string>();
  for (const { fields } of variables) {
    if (fields[0] === field && fields.length === 2) skipped.add(fields[1]?.name ?? "");
  }
  return (message, raw, reading) => {
    const child = create(schema);
    fieldsOf(message)[field.localName] = child;
    reading.at.push(field.jsonName);
    const given = readers.fill(schema, child, parseObject(raw.body), reading, skipped);
    reading.at.pop();
    return given;
  };
}

function valueFieldReader(field: DescField, readers: MessageReaders): ReadBody {
  const readValue = readers.value(field);
  return (message, raw, reading) => {
    const json = raw.body.length === 0 ? null : parseJson(raw.body);
    const value = json === null ? absent : readValue(json, reading, field.jsonName);
    if (value === absent || value === refused) return [];
    const fields = fieldsOf(message);
    if (field.oneof === undefined) fields[field.localName] = value;
    else fields[field.oneof.localName] = { case: field.localName, value };
    return [field.name];
  };
}

/** An empty body and `null` count as `{}`. */
function parseObject(bytes: Uint8Array) {
  const json = bytes.length === 0 ? {} : (parseJson(bytes) ?? {});
  if (isJsonObject(json)) return json;
  throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", "the request body must be a JSON object");
}
