import { type DescEnum, ScalarType } from "@bufbuild/protobuf";
import type { Size } from "./bounds.ts";
import { absent, noteViolation, type Reading, type ReadValue } from "./reading.ts";

/** The largest finite 32-bit float. */
const floatMax = 3.4028234663852886e38;

/** Up to how many names of an enum a refusal lists; a longer enum is named instead. */
const listedEnumNamesMax = 20;

const integerPattern = /^-?\d{1,20}$/;
const numberPattern = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Far fewer digits tell any double from all others, but some programs write all the digits they have, up to 767. */
const numberLengthMax = 800;

/**
 * Makes the reader of a scalar in JSON; `size` limits texts and bytes. 64-bit integers become bigint, or decimal
 * strings where the schema says `jstype = JS_STRING`.
 */
export function scalarReader(scalar: ScalarType, longAsString: boolean, size: Size): ReadValue {
  switch (scalar) {
    case ScalarType.STRING:
      return stringReader(size);
    case ScalarType.BOOL:
      return (json, reading, name) =>
        typeof json === "boolean" ? json : noteViolation(reading, name, "must be true or false");
    case ScalarType.BYTES:
      return bytesReader(size);
    case ScalarType.DOUBLE:
      return floatReader(Number.MAX_VALUE);
    case ScalarType.FLOAT:
      return floatReader(floatMax);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return integerReader(-(2 ** 31), 2 ** 31 - 1);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return integerReader(0, 2 ** 32 - 1);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return longReader(-(2n ** 63n), 2n ** 63n - 1n, longAsString);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return longReader(0n, 2n ** 64n - 1n, longAsString);
  }
}

/** Makes the reader of a scalar in a parameter's text: as in JSON, with `true`/`false` in any case. */
export function scalarTextReader(scalar: ScalarType, longAsString: boolean, size: Size): ReadValue {
  if (scalar !== ScalarType.BOOL) return scalarReader(scalar, longAsString, size);
  return (text, reading, name) => {
    const word = String(text).slice(0, 6).toLowerCase();
    if (word === "true") return true;
    return word === "false" ? false : noteViolation(reading, name, "must be true or false");
  };
}

/**
 * Makes the reader of an enum, by name or known number. A zero value named `…UNSPECIFIED` counts as absent. A zero
 * value with another name is read like any other value.
 */
export function enumReader(schema: DescEnum): ReadValue {
  const values = new Map<unknown, number | typeof absent>();
  for (const { name, jsonName, number } of schema.values) {
    const value = number === 0 && name.endsWith("UNSPECIFIED") ? absent : number;
    values.set(name, value).set(jsonName, value).set(number, value);
  }
  const names = schema.values
    .filter(({ number }) => values.get(number) !== absent)
    .map((each) => each.jsonName);
  const description =
    names.length <= listedEnumNamesMax
      ? `must be one of ${names.join(", ")}`
      : `must be a value of ${schema.name}`;
  return (json, reading, name) => values.get(json) ?? noteViolation(reading, name, description);
}

/** Makes the reader of an enum in a parameter's text: by name, or by number in digits. */
export function enumTextReader(schema: DescEnum): ReadValue {
  const read = enumReader(schema);
  return (text, reading, name) =>
    read(typeof text === "string" && integerPattern.test(text) ? Number(text) : text, reading, name);
}

function stringReader({ max, description }: Size): ReadValue {
  return (json, reading, name) => {
    if (typeof json !== "string") return noteViolation(reading, name, "must be a string");
    if (json.length > max) return noteViolation(reading, name, description);
    return json.isWellFormed()
      ? json
      : noteViolation(reading, name, "must not hold half of a surrogate pair");
  };
}

/** The start of a data URL, up to its base64; pages hold images in this form. */
const dataUrlPattern = /^data:[\w.+/;=-]{0,100};base64,/;

/** Makes the reader of bytes: base64 and base64url, with and without padding, also as a data URL. */
function bytesReader({ max, description }: Size): ReadValue {
  const digitsMax = Math.ceil(max / 3) * 4;
  return (given, reading, name) => {
    if (typeof given !== "string") return noteViolation(reading, name, "must be base64 text");
    const head = given.startsWith("data:") ? (dataUrlPattern.exec(given.slice(0, 130))?.[0].length ?? 0) : 0;
    if (given.length - head > digitsMax) return noteViolation(reading, name, description);
    return readBytes(head === 0 ? given : given.slice(head), reading, name);
  };
}

function readBytes(json: string, reading: Reading, name: string | number): unknown {
  const digits = json.endsWith("==") ? json.length - 2 : json.endsWith("=") ? json.length - 1 : json.length;
  const bytes = Buffer.from(json, "base64");
  // Node skips characters that are not base64, so a wrong character shows in the length; a remainder of one digit is
  // always wrong.
  if (digits % 4 === 1 || bytes.length !== Math.floor((digits * 3) / 4)) {
    return noteViolation(reading, name, "must be base64 text");
  }
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

function floatReader(max: number): ReadValue {
  return (json, reading, name) => {
    if (json === "NaN") return Number.NaN;
    if (json === "Infinity") return Number.POSITIVE_INFINITY;
    if (json === "-Infinity") return Number.NEGATIVE_INFINITY;
    const isNumber = typeof json === "string" && json.length <= numberLengthMax && numberPattern.test(json);
    const value = isNumber ? Number(json) : json;
    if (typeof value !== "number") return noteViolation(reading, name, "must be a number");
    return Math.abs(value) <= max ? value : noteViolation(reading, name, "is too large a number");
  };
}

function integerReader(min: number, max: number): ReadValue {
  const description = `must be a whole number from ${min} to ${max}`;
  return (json, reading, name) => {
    const value = typeof json === "string" && integerPattern.test(json) ? Number(json) : json;
    if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
      return noteViolation(reading, name, description);
    }
    // Adding zero turns -0 into 0.
    return value + 0;
  };
}

function longReader(min: bigint, max: bigint, asString: boolean): ReadValue {
  const description = `must be a whole number from ${min} to ${max}`;
  return (json, reading, name) => {
    let value: bigint | undefined;
    if (typeof json === "string" && integerPattern.test(json)) value = BigInt(json);
    else if (Number.isSafeInteger(json)) value = BigInt(Number(json));
    else if (Number.isInteger(json)) {
      return noteViolation(reading, name, "is beyond the exact range of JSON numbers; send it as a string");
    }
    if (value === undefined || value < min || value > max) return noteViolation(reading, name, description);
    return asString ? value.toString() : value;
  };
}
