import { type DescField, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import {
  type FieldRules,
  field as fieldOption,
  type StringRules,
} from "../../gen/buf/validate/validate_pb.js";

/** How much of a field is read at all. The validator judges what is within these bounds. */
export interface Bounds {
  /** The elements of a list or the pairs of a map; Infinity for any other field. */
  readonly itemsMax: number;
  /** The limit of the field's text or bytes, of each element of a list, or of each value of a map. */
  readonly size: Size;
  /** The limit of a map's keys. */
  readonly keySize: Size;
}

export interface Size {
  /** The most that is read: bytes, or UTF-16 units of a text, of which there are never more than bytes. */
  readonly max: number;
  /** What a refusal says, after the field's name. */
  readonly description: string;
}

/** How deep objects and lists of a request may nest; protobuf's own parsers stop at the same depth. */
export const depthMax = 100;

/** How many elements of a list or map are read when the field declares no limit. */
export const itemsMaxDefault = 500;

/** How long a text may be when the field declares no limit. */
export const textBytesMaxDefault = 20_000;

/**
 * The least limit of a text: texts are trimmed before their rules are checked, so a short one may bring some spaces.
 */
const textBytesMaxLeast = 256;

/** UTF-8 needs at most this many bytes for a character. */
const bytesOfCharacter = 4;

/** The size limit of values that are neither text nor bytes: none. */
export const anySize: Size = { max: Number.POSITIVE_INFINITY, description: "" };

/**
 * How many elements of lists and maps one request may have in all, at every depth: plenty for a small request, and in
 * proportion to its bytes for a large one. Checking an element costs about a microsecond.
 */
export function elementsMaxOf(bytes: number): number {
  return Math.max(20_000, bytes / 16);
}

/** Reads the bounds of a field from its rules. */
export function boundsOf(field: DescField): Bounds {
  const rules = hasOption(field, fieldOption) ? getOption(field, fieldOption) : undefined;
  if (field.fieldKind === "list") {
    const list = rules?.type.case === "repeated" ? rules.type.value : undefined;
    return {
      itemsMax: itemsMaxOf(list?.maxItems),
      size: sizeOf(field.scalar, list?.items),
      keySize: anySize,
    };
  }
  if (field.fieldKind === "map") {
    const map = rules?.type.case === "map" ? rules.type.value : undefined;
    return {
      itemsMax: itemsMaxOf(map?.maxPairs),
      size: sizeOf(field.scalar, map?.values),
      keySize: sizeOf(field.mapKey, map?.keys),
    };
  }
  return { itemsMax: Number.POSITIVE_INFINITY, size: sizeOf(field.scalar, rules), keySize: anySize };
}

/** Reads a rule about a number of items; a missing rule is zero. */
function itemsMaxOf(declared: bigint | undefined): number {
  return Number(declared ?? 0n) || itemsMaxDefault;
}

function sizeOf(scalar: ScalarType | undefined, rules: FieldRules | undefined): Size {
  if (scalar === ScalarType.BYTES) return bytesSize(rules);
  if (scalar !== ScalarType.STRING) return anySize;
  const text = rules?.type.case === "string" ? rules.type.value : undefined;
  // The validator refuses an id for its form, whatever its length.
  if (text?.wellKnown.case === "uuid") return { max: textBytesMaxDefault, description: "must be a UUID" };
  const characters = text && charactersMaxOf(text);
  if (characters !== undefined)
    return {
      max: Math.max(characters * bytesOfCharacter, textBytesMaxLeast),
      description: `must have at most ${characters} characters`,
    };
  const bytes = Number(text?.maxBytes || text?.lenBytes) || textBytesMaxDefault;
  return { max: Math.max(bytes, textBytesMaxLeast), description: `must have at most ${bytes} bytes` };
}

/** The longest text, in characters, that the rules allow; undefined when they set no limit. */
function charactersMaxOf(rules: StringRules): number | undefined {
  const declared = Number(rules.maxLen || rules.len);
  if (declared > 0) return declared;
  if (rules.wellKnown.case === "email") return 254;
  if (rules.in.length > 0) return Math.max(...rules.in.map(({ length }) => length));
  return undefined;
}

/**
 * The limit of a bytes field. Bytes cost nothing to check, so the limit of the request is enough where the field has
 * none.
 */
function bytesSize(rules: FieldRules | undefined): Size {
  const bytes = rules?.type.case === "bytes" ? Number(rules.type.value.maxLen || rules.type.value.len) : 0;
  return bytes === 0 ? anySize : { max: bytes, description: `must have at most ${bytes} bytes` };
}
