import { type DescMessage, type JsonValue, type Message, type Registry, toJson } from "@bufbuild/protobuf";
import {
  type Any,
  AnySchema,
  type Duration,
  DurationSchema,
  type FieldMask,
  FieldMaskSchema,
  isWrapperDesc,
  ListValueSchema,
  StructSchema,
  type Timestamp,
  TimestampSchema,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";

/**
 * Returns the writer of a google.protobuf message whose JSON is no plain object; undefined for any other message.
 * `write-message.ts` writes the plain form of Struct and of the wrappers, because it depends on the field.
 */
export function wellKnownWriter(
  schema: DescMessage,
  registry: Registry,
): ((value: unknown) => string) | undefined {
  // Every `as` below: the type name was compared in the line above it.
  switch (schema.typeName) {
    case TimestampSchema.typeName:
      return (value) => writeTimestamp(value as Timestamp);
    case DurationSchema.typeName:
      return (value) => writeDuration(value as Duration);
    case FieldMaskSchema.typeName:
      return (value) => JSON.stringify((value as FieldMask).paths.map(camelCase).join(","));
    case AnySchema.typeName:
      return (value) => writeAny(value as Any, registry);
    case StructSchema.typeName:
    case ValueSchema.typeName:
    case ListValueSchema.typeName:
      return (value) => JSON.stringify(toJson(schema, value as Message));
    default:
      return isWrapperDesc(schema) ? (value) => JSON.stringify(toJson(schema, value as Message)) : undefined;
  }
}

/** Writes RFC 3339 in UTC with 0, 3 or 6 digits of a second; nanoseconds are cut off. */
function writeTimestamp({ seconds, nanos }: Timestamp): string {
  // Date itself writes milliseconds, the usual case.
  if (nanos !== 0 && nanos % 1_000_000 === 0) {
    return `"${new Date(Number(seconds) * 1000 + nanos / 1_000_000).toISOString()}"`;
  }
  // The ISO text ends in ".000Z". Years past 9999 or before 0 would have another form, but they never get into the
  // database.
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, -5);
  return `"${whole}${fraction(Math.floor(nanos / 1000), 6)}Z"`;
}

function writeDuration({ seconds, nanos }: Duration): string {
  const sign = seconds < 0n || nanos < 0 ? "-" : "";
  const whole = seconds < 0n ? -seconds : seconds;
  return `"${sign}${whole}${fraction(Math.abs(nanos), 9)}s"`;
}

/** Writes a fraction of `digits` digits, in groups of three, without trailing groups of zeros. */
function fraction(value: number, digits: number): string {
  if (value === 0) return "";
  return `.${String(value).padStart(digits, "0")}`.replace(/(?:000){1,2}$/, "");
}

function camelCase(path: string): string {
  return path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Writes a message of an unknown type as its type and its bytes. */
function writeAny(any: Any, registry: Registry): string {
  let json: JsonValue;
  try {
    json = toJson(AnySchema, any, { registry, alwaysEmitImplicit: true });
  } catch {
    json = { "@type": any.typeUrl, value: Buffer.from(any.value).toString("base64") };
  }
  return JSON.stringify(json);
}
