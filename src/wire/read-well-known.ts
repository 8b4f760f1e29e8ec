import { create, type DescMessage, fromJson, type JsonValue, type Registry } from "@bufbuild/protobuf";
import {
  AnySchema,
  DurationSchema,
  FieldMaskSchema,
  ListValueSchema,
  StructSchema,
  TimestampSchema,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import { depthMax, textBytesMaxDefault } from "./bounds.ts";
import { noteViolation, type Reading, type ReadValue, refused, tooManyElements } from "./reading.ts";

const timestampPattern =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;
const durationPattern = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;
/** Longer than any time that the patterns accept. */
const timeLengthMax = 64;
/** Room for the paths of every field of any message. */
const maskLengthMax = 16 * 1024;
const maskPathPattern = /^(?:\*|[A-Za-z_]\w*(?:\.\w+)*)$/;

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z in seconds: the range of google.protobuf.Timestamp. */
const timestampSeconds = { min: -62_135_596_800, max: 253_402_300_799 };
const millisecondsOf400Years = 146_097 * 86_400_000;
/** About 10,000 years: the range of google.protobuf.Duration. */
const durationSecondsMax = 315_576_000_000;

/**
 * Returns the reader of a google.protobuf message whose JSON is no plain object; undefined for any other message.
 * `read-message.ts` reads the wrappers and the plain form of Struct, because they depend on the field.
 */
export function wellKnownReader(schema: DescMessage, registry: Registry): ReadValue | undefined {
  switch (schema.typeName) {
    case TimestampSchema.typeName:
      return readTimestamp;
    case DurationSchema.typeName:
      return readDuration;
    case FieldMaskSchema.typeName:
      return readFieldMask;
    case StructSchema.typeName:
      return (json, reading, name) => {
        const object = readJsonObject(json, reading, name);
        return object === refused ? refused : fromJson(StructSchema, object, checkedJson);
      };
    case ValueSchema.typeName:
      return (json, reading, name) =>
        isFreeJson(json, reading, name) ? fromJson(ValueSchema, json, checkedJson) : refused;
    case ListValueSchema.typeName:
      return (json, reading, name) => {
        if (!Array.isArray(json)) return noteViolation(reading, name, "must be a list");
        return isFreeJson(json, reading, name) ? fromJson(ListValueSchema, json, checkedJson) : refused;
      };
    case AnySchema.typeName:
      return anyReader(registry);
    default:
      return undefined;
  }
}

/** Our own depth check ran before. The library counts Struct, Value and ListValue as separate levels. */
const checkedJson = { recursionLimit: depthMax * 4 };

/** Reads a JSON object of any shape: the value in memory of a google.protobuf.Struct field. */
export function readJsonObject(json: unknown, reading: Reading, name: string | number) {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    return noteViolation(reading, name, "must be an object");
  }
  // A value that JSON.parse made and that passes the check below holds JSON values only.
  return isFreeJson(json, reading, name) ? (json as { [key: string]: JsonValue }) : refused;
}

function isFreeJson(json: unknown, reading: Reading, name: string | number): json is JsonValue {
  const fault = faultOfFreeJson(json, depthMax - reading.at.length, reading);
  if (fault === undefined) return true;
  noteViolation(reading, name, fault);
  return false;
}

function faultOfFreeJson(json: unknown, depthLeft: number, reading: Reading): string | undefined {
  if (typeof json === "string") return faultOfText(json);
  if (typeof json === "number") return Number.isFinite(json) ? undefined : "holds too large a number";
  if (typeof json !== "object" || json === null) return undefined;
  if (depthLeft <= 0) return "is nested too deeply";
  // Object.keys would make a text for each element of an array.
  const keys = Array.isArray(json) ? undefined : Object.keys(json);
  const values: readonly unknown[] = Array.isArray(json) ? json : Object.values(json);
  reading.elementsLeft -= values.length;
  if (reading.elementsLeft < 0) return tooManyElements;
  for (let index = 0; index < values.length; index++) {
    const fault = faultOfText(keys?.[index] ?? "") ?? faultOfFreeJson(values[index], depthLeft - 1, reading);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfText(text: string): string | undefined {
  if (text.length > textBytesMaxDefault) return `holds a text of more than ${textBytesMaxDefault} characters`;
  return text.isWellFormed() ? undefined : "must not hold half of a surrogate pair";
}

function isShortText(json: unknown): json is string {
  return typeof json === "string" && json.length <= timeLengthMax;
}

// Digits are read by position, which is twice as fast as the groups of the pattern: lists are full of timestamps.
const readTimestamp: ReadValue = (json, reading, name) => {
  const description = "must be an RFC 3339 time such as 2026-01-31T12:00:00Z";
  if (!isShortText(json) || !timestampPattern.test(json)) return noteViolation(reading, name, description);
  const year = twoDigits(json, 0) * 100 + twoDigits(json, 2);
  const month = twoDigits(json, 5);
  const day = twoDigits(json, 8);
  // The calendar repeats every 400 years. Date.UTC would take the years 0 to 99 for years of the 20th century.
  const midnight = Date.UTC(year + 400, month - 1, day) - millisecondsOf400Years;
  if (day > 28 && new Date(midnight).getUTCDate() !== day) return noteViolation(reading, name, description);
  const time = twoDigits(json, 11) * 3600 + twoDigits(json, 14) * 60 + twoDigits(json, 17);
  const zone = zoneAt(json);
  const seconds = midnight / 1000 + time - offsetSeconds(json, zone);
  if (seconds < timestampSeconds.min || seconds > timestampSeconds.max) {
    return noteViolation(reading, name, "must lie in the years 0001 to 9999");
  }
  const nanos = zone > 20 ? nanosOf(json.slice(20, zone)) : 0;
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos });
};

function twoDigits(text: string, at: number): number {
  return text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 11 * 48;
}

/** Finds where the zone begins: `Z`, `+01:00` or `+0100`. */
function zoneAt(text: string): number {
  if (text.endsWith("Z") || text.endsWith("z")) return text.length - 1;
  return text.length - (text[text.length - 3] === ":" ? 6 : 5);
}

function offsetSeconds(text: string, zone: number): number {
  if (zone === text.length - 1) return 0;
  const offset = twoDigits(text, zone + 1) * 3600 + twoDigits(text, text.length - 2) * 60;
  return text[zone] === "-" ? -offset : offset;
}

const readDuration: ReadValue = (json, reading, name) => {
  const parts = isShortText(json) ? durationPattern.exec(json) : null;
  const seconds = Number(parts?.[2]);
  if (parts === null || seconds > durationSecondsMax) {
    return noteViolation(reading, name, "must be a time in seconds such as 1.5s");
  }
  const sign = parts[1] === "-" ? -1 : 1;
  return create(DurationSchema, { seconds: BigInt(sign * seconds), nanos: sign * nanosOf(parts[3]) + 0 });
};

function nanosOf(fraction: string | undefined): number {
  return fraction === undefined ? 0 : Number(fraction.padEnd(9, "0"));
}

/** Takes `*` and comma-separated paths in camelCase or snake_case; the message holds snake_case. */
const readFieldMask: ReadValue = (json, reading, name) => {
  if (typeof json !== "string" || json.length > maskLengthMax)
    return noteViolation(reading, name, "must be field names separated by commas");
  const paths = json.split(",").filter((path) => path !== "");
  if (!paths.every((path) => maskPathPattern.test(path))) {
    return noteViolation(reading, name, "must be field names separated by commas");
  }
  return create(FieldMaskSchema, { paths: paths.map(snakeCase) });
};

function snakeCase(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function anyReader(registry: Registry): ReadValue {
  return (json, reading, name) => {
    if (!isFreeJson(json, reading, name)) return refused;
    try {
      return fromJson(AnySchema, json, { ...checkedJson, registry, ignoreUnknownFields: true });
    } catch {
      return noteViolation(reading, name, 'must be an object whose "@type" names a known message');
    }
  };
}
