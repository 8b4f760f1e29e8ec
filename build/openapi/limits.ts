import { type DescEnum, type DescField, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import {
  type FieldRules,
  FieldRulesSchema,
  field as fieldOption,
  Ignore,
} from "../../gen/buf/validate/validate_pb.js";
import { expressionLimits } from "./expressions.ts";
import type { JsonSchema } from "./json-schema.ts";
import { portablePattern } from "./portable-pattern.ts";

/** The buf.validate rules of a field, translated to JSON Schema. */
export interface Limits {
  /** The limits of the value, or of the whole list or map. */
  readonly value: JsonSchema;
  /** The limits of each element of a list or value of a map. */
  readonly element: JsonSchema;
  /** The limits of a map's keys. */
  readonly key: JsonSchema;
  readonly required: boolean;
  /** Whether an empty value is allowed, whatever the rules require of other values. */
  readonly mayBeEmpty: boolean;
}

type Translate = (value: unknown) => JsonSchema;

const nothing: JsonSchema = {};

const say = (schema: JsonSchema) => () => schema;
const size = (
  name: "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties",
) => {
  return (value: unknown): JsonSchema => ({ [name]: Number(value) });
};
const bound = (name: "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum") => {
  return (value: unknown): JsonSchema => ({ [name]: Number(value) });
};

const stringRules: Readonly<Record<string, Translate>> = {
  const: (value) => ({ const: value }),
  len: (value) => ({ minLength: Number(value), maxLength: Number(value) }),
  min_len: size("minLength"),
  max_len: size("maxLength"),
  // A character has at least one byte, so the limit in bytes also limits the characters.
  max_bytes: size("maxLength"),
  pattern: (value) => ({ pattern: portablePattern(String(value)) }),
  not_in: (value) => ({ not: { enum: [...(value as Iterable<unknown>)] } }),
  not_contains: (value) => ({ not: { pattern: String(value).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&") } }),
  in: (value) => ({ enum: [...(value as Iterable<unknown>)] }),
  uuid: say({ format: "uuid" }),
  email: say({ format: "email" }),
  uri: say({ format: "uri" }),
  hostname: say({ format: "hostname" }),
};
const numberRules: Readonly<Record<string, Translate>> = {
  gt: bound("exclusiveMinimum"),
  gte: bound("minimum"),
  lt: bound("exclusiveMaximum"),
  lte: bound("maximum"),
  in: (value) => ({ enum: Array.from(value as Iterable<unknown>, Number) }),
  not_in: (value) => ({ not: { enum: Array.from(value as Iterable<unknown>, Number) } }),
  // Every number in JSON is finite.
  finite: say(nothing),
};
const bytesRules: Readonly<Record<string, Translate>> = {
  // Base64 writes three bytes as four characters.
  max_len: (value) => ({ maxLength: Math.ceil(Number(value) / 3) * 4 }),
  min_len: (value) => ({ minLength: Math.ceil((Number(value) * 4) / 3) }),
};

const listRules: Readonly<Record<string, Translate>> = {
  min_items: size("minItems"),
  max_items: size("maxItems"),
  unique: say({ uniqueItems: true }),
  items: say(nothing),
};
const mapRules: Readonly<Record<string, Translate>> = {
  min_pairs: size("minProperties"),
  max_pairs: size("maxProperties"),
  keys: say(nothing),
  values: say(nothing),
};

/** Translates the rules of a field. Throws an Error that names the field when a rule has no translation here. */
export function limitsOf(field: DescField): Limits {
  const nobody: Limits = {
    value: nothing,
    element: nothing,
    key: nothing,
    required: false,
    mayBeEmpty: false,
  };
  if (!hasOption(field, fieldOption)) return nobody;
  const rules = getOption(field, fieldOption);
  try {
    return { ...nobody, ...readRules(field, rules) };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${field.toString()}: ${why}`, { cause });
  }
}

function readRules(field: DescField, rules: FieldRules): Partial<Limits> {
  // In a required field without presence the zero value counts as missing, so it is excluded.
  const given = rules.required && !hasPresence(field) ? somethingElse(field) : nothing;
  if (rules.type.case === "repeated") {
    const value = { ...given, ...translate(rules, listRules) };
    return {
      value,
      element: single(rules.type.value.items, field),
      required: (value.minItems ?? 0) > 0,
    };
  }
  if (rules.type.case === "map") {
    const { keys, values } = rules.type.value;
    const value = { ...given, ...translate(rules, mapRules) };
    const required = (value.minProperties ?? 0) > 0;
    return { value, element: single(values, field), key: single(keys, field), required };
  }
  const strict = { ...given, ...single(rules, field) };
  const zeroCounts = rules.ignore !== Ignore.IF_ZERO_VALUE;
  const required = rules.required || (zeroCounts && !hasPresence(field) && refusesZero(strict, field));
  return { value: zeroCounts ? strict : orZero(strict, field), required, mayBeEmpty: !zeroCounts };
}

function somethingElse(field: DescField): JsonSchema {
  if (field.fieldKind === "list") return { minItems: 1 };
  if (field.fieldKind === "map") return { minProperties: 1 };
  if (field.enum !== undefined) return { not: { const: field.enum.values[0]?.name } };
  if (field.scalar === ScalarType.BOOL) return { const: true };
  return holdsText(field) ? { minLength: 1 } : { not: { const: 0 } };
}

function zeroOf(field: DescField): string | number | undefined {
  if (field.enum !== undefined) return field.enum.values[0]?.name;
  return holdsText(field) ? "" : 0;
}

function holdsText({ scalar }: DescField): boolean {
  return scalar === ScalarType.STRING || scalar === ScalarType.BYTES;
}

/** Whether a missing field can be told apart from one with its zero value. */
export function hasPresence(field: DescField): boolean {
  return field.oneof !== undefined || field.fieldKind === "message" || field.proto.proto3Optional;
}

function single(rules: FieldRules | undefined, field: DescField): JsonSchema {
  if (rules === undefined) return nothing;
  const expressions = rules.cel.map(({ expression }) => expression);
  return { ...ofType(rules, field.enum), ...expressionLimits(expressions, field) };
}

function ofType(rules: FieldRules, of: DescEnum | undefined): JsonSchema {
  switch (rules.type.case) {
    case undefined:
      return nothing;
    case "string":
      return translate(rules, stringRules);
    case "bytes":
      return translate(rules, bytesRules);
    case "int32":
    case "int64":
    case "uint32":
    case "uint64":
    case "float":
    case "double":
      return translate(rules, numberRules);
    case "enum":
      return translate(rules, enumRules(of));
    default:
      throw new Error(`rules of ${rules.type.case} have no translation to JSON Schema`);
  }
}

function enumRules(of: DescEnum | undefined): Readonly<Record<string, Translate>> {
  const names = (value: unknown) =>
    // The descriptor guarantees that these are numbers of enum values.
    Array.from(value as Iterable<number>, (number) => of?.value[number]?.name ?? number);
  return {
    defined_only: say(nothing),
    in: (value) => ({ enum: names(value) }),
    not_in: (value) => ({ not: { enum: names(value) } }),
  };
}

/** Translates every given rule. Throws on a rule that the table lacks, so that no rule is lost silently. */
function translate({ type }: FieldRules, table: Readonly<Record<string, Translate>>): JsonSchema {
  const desc = FieldRulesSchema.fields.find(({ localName }) => localName === type.case)?.message;
  if (desc === undefined || type.value === undefined) return nothing;
  const rules = reflect(desc, type.value);
  let schema = nothing;
  for (const rule of desc.fields) {
    const value = rules.isSet(rule) ? rules.get(rule) : undefined;
    if (value === undefined || value === false) continue;
    const translated = table[rule.name]?.(value);
    if (translated === undefined) throw new Error(`rule ${rule.name} has no translation to JSON Schema`);
    schema = { ...schema, ...translated };
  }
  return schema;
}

/** Whether a text or number rule refuses the zero value, which a missing field holds. */
function refusesZero(schema: JsonSchema, field: DescField): boolean {
  return schema.format !== undefined || zeroBreaks(schema, field);
}

/** Like `refusesZero`, without formats, which JSON Schema treats as annotations. */
function zeroBreaks(schema: JsonSchema, field: DescField): boolean {
  const zero = zeroOf(field);
  return (
    (schema.minLength ?? 0) > 0 ||
    (schema.minimum ?? 0) > 0 ||
    (schema.exclusiveMinimum ?? -1) >= 0 ||
    (schema.maximum ?? 0) < 0 ||
    (schema.exclusiveMaximum ?? 1) <= 0 ||
    (schema.enum !== undefined && !schema.enum.includes(zero)) ||
    schema.not?.enum?.includes(zero) === true ||
    (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(""))
  );
}

/**
 * Widens a schema to the zero value, for fields whose rules are skipped while the field is empty. `anyOf` would say it
 * exactly, but client generators make types of its members that do not compile.
 */
function orZero(schema: JsonSchema, field: DescField): JsonSchema {
  if (!zeroBreaks(schema, field)) return schema;
  const { minLength: _, minimum, pattern, ...others } = schema;
  const widened = {
    ...others,
    ...(others.enum === undefined ? {} : { enum: [zeroOf(field), ...others.enum] }),
    ...(minimum === undefined ? {} : { minimum: Math.min(minimum, 0) }),
    ...(pattern === undefined ? {} : { pattern: orEmptyPattern(pattern) }),
  };
  if (zeroBreaks(widened, field))
    throw new Error("nothing here knows how to widen its rules to the zero value");
  return widened;
}

/** A pattern that also matches the empty text. */
export function orEmptyPattern(pattern: string): string {
  return `^$|${pattern}`;
}
