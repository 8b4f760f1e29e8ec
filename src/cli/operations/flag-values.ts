import { type DescEnum, type DescField, ScalarType } from "@bufbuild/protobuf";
import { isBoolean, isFreeObject, isTimestamp, shortName, shortNames } from "./flags.ts";

/** A request or an answer as parsed JSON. */
export type JsonObject = { [name: string]: unknown };

/** Reads the file in `@name`. */
export type ReadFile = (name: string) => Uint8Array;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Turns a flag's text into the JSON value of its field: lists are split at commas, enums take short names, bytes come
 * from `@file`, messages are JSON. Throws an Error that says what the text must be.
 */
export function jsonOfText(field: DescField, text: string, readFile: ReadFile): unknown {
  switch (field.fieldKind) {
    case "list":
      return listOfText(field, text, readFile);
    case "map":
      return pairOfText(text);
    default:
      return isFreeObject(field) ? freeObjectOfText(text) : singleOfText(field, text, readFile);
  }
}

function listOfText(field: DescField, text: string, readFile: ReadFile): unknown[] {
  const isMessages = field.message !== undefined && !isTimestamp(field);
  if (isMessages || text.startsWith("[")) {
    const json = parseJson(text);
    return Array.isArray(json) ? json : [json];
  }
  return text
    .split(",")
    .filter((item) => item !== "")
    .map((item) => singleOfText(field, item, readFile));
}

function singleOfText(field: DescField, text: string, readFile: ReadFile): unknown {
  if (field.enum !== undefined) return enumOfText(field.enum, text);
  if (isTimestamp(field)) return timeOfText(text);
  if (field.message !== undefined)
    return field.message.typeName.startsWith("google.protobuf.") ? text : parseJson(text);
  if (isBoolean(field)) return booleanOfText(text);
  if (field.scalar === ScalarType.STRING) return text;
  if (field.scalar === ScalarType.BYTES)
    return text.startsWith("@") ? Buffer.from(readFile(text.slice(1))).toString("base64") : text;
  return numberOfText(text);
}

function booleanOfText(text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new Error("must be true or false");
}

/** Whole numbers that JSON would round are sent as strings, which the service accepts as well. */
function numberOfText(text: string): number | string {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number)) throw new Error("must be a number");
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(number) ? text : number;
}

function enumOfText(schema: DescEnum, text: string): string {
  const wanted = text.toUpperCase().replaceAll("-", "_");
  const value = schema.values.find(({ name, jsonName }) =>
    [name, jsonName, shortName(schema, name)].some((each) => each.toUpperCase() === wanted),
  );
  if (value === undefined) throw new Error(`must be one of ${shortNames(schema).join(", ")}`);
  return value.jsonName;
}

/** A date alone means midnight UTC. Other texts are left for the service to refuse. */
function timeOfText(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
}

function pairOfText(text: string): JsonObject {
  if (text.startsWith("{")) return objectOf(parseJson(text));
  const equals = text.indexOf("=");
  if (equals <= 0) throw new Error("must be key=value");
  return ownProperty(text.slice(0, equals), text.slice(equals + 1));
}

function freeObjectOfText(text: string): JsonObject {
  if (text.startsWith("{")) return objectOf(parseJson(text));
  if (!text.includes("=")) throw new Error("must be key=value, or a JSON object");
  return pairOfText(text);
}

function objectOf(json: unknown): JsonObject {
  if (isJsonObject(json)) return json;
  throw new Error("must be a JSON object");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("must be JSON");
  }
}

/** An object with one property, whose name may be `__proto__`. */
export function ownProperty(name: string, value: unknown): JsonObject {
  return Object.fromEntries([[name, value]]);
}

/**
 * Lays one request over another: objects are merged, lists are joined if `joinLists` says so, and other values are
 * replaced.
 */
export function merge(below: unknown, above: unknown, joinLists: boolean): unknown {
  if (Array.isArray(below) && Array.isArray(above) && joinLists) return [...below, ...above];
  if (!isJsonObject(below) || !isJsonObject(above)) return above;
  const entries = new Map(Object.entries(below));
  for (const [name, value] of Object.entries(above))
    entries.set(name, entries.has(name) ? merge(entries.get(name), value, joinLists) : value);
  return Object.fromEntries(entries);
}
