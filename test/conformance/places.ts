import {
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  type JsonValue,
} from "@bufbuild/protobuf";
import { field as fieldRules, Ignore } from "../../gen/buf/validate/validate_pb.js";
import { leastOf, put, withField } from "./valid.ts";

/** A message somewhere in a request. */
export interface Place {
  readonly desc: DescMessage;
  /** The path in JSON names; empty for the request itself. */
  readonly path: string;
  /** The least that the request needs of the message. */
  readonly json: JsonObject;
  /** Builds the request around the message. */
  readonly wrap: (json: JsonObject) => JsonObject;
  readonly above: readonly DescMessage[];
}

/**
 * The request and every message in it, except messages inside one of their own kind and messages whose rules are
 * ignored.
 */
export function placesOf(input: DescMessage): Place[] {
  return placesFrom({ desc: input, path: "", json: leastOf(input), wrap: (json) => json, above: [] });
}

export function pathTo({ path }: Place, { jsonName }: DescField): string {
  return path === "" ? jsonName : `${path}.${jsonName}`;
}

function placesFrom(place: Place): Place[] {
  return [place, ...place.desc.fields.flatMap((field) => placesIn(place, field))];
}

function placesIn(place: Place, field: DescField): Place[] {
  const desc = field.message;
  const above = [...place.above, place.desc];
  if (desc === undefined || above.includes(desc) || desc.typeName.startsWith("google.protobuf.")) return [];
  const { type } = getOption(field, fieldRules);
  if (type.case === "repeated" && type.value.items?.ignore === Ignore.ALWAYS) return [];
  const base = withField(place.desc, place.json, field);
  const value = base[field.jsonName];
  const path = pathTo(place, field);
  if (field.fieldKind === "message") {
    const wrap = (json: JsonObject) => place.wrap(put(base, field, json));
    return placesFrom({ desc, path, json: objectIn(value), wrap, above });
  }
  if (field.fieldKind !== "list" || !Array.isArray(value))
    throw new Error(`${field}: nothing here knows the way into its messages`);
  const [first, ...rest] = value;
  const wrap = (json: JsonObject) => place.wrap(put(base, field, [json, ...rest]));
  return placesFrom({ desc, path: `${path}[0]`, json: objectIn(first), wrap, above });
}

function objectIn(value: JsonValue | undefined): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Error(`${JSON.stringify(value)} is no message`);
}
