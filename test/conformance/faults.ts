import { type DescField, getOption, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import {
  type FieldRules,
  FieldRulesSchema,
  field as fieldRules,
} from "../../gen/buf/validate/validate_pb.js";
import { elementValues, validElements, validValue, valuesOf } from "./valid.ts";

/** A value that a field refuses. */
export interface Fault {
  /** The rule's name in the validation library, or `required`. */
  readonly rule: string;
  /** Values to try; the first one that breaks the rule is sent. undefined leaves the field out. */
  readonly values: readonly (JsonValue | undefined)[];
  /** The place of the fault below the field: `[0]`, `.key`. */
  readonly below: string;
  /** The value over REST instead, where enums are names. */
  readonly restValue?: JsonValue;
  /** Whether the rule is an expression, which may blame a field below this one. */
  readonly isExpression?: true;
}

/** A number that no enum has, for protocols where enums are numbers, and a name that no enum has. */
const unknownEnum = { number: 9_999, name: "NO_SUCH_VALUE" };

/** Every way to break the rules of a field. Throws on a rule that has no known way. */
export function faultsOf(field: DescField): Fault[] {
  const rules = getOption(field, fieldRules);
  const own = faultsOfRules(field, rules);
  const enumFaults = field.enum === undefined ? [] : [misspelling(field)];
  const cel = rules.cel.map(({ id }): Fault => expressionFault(id, valuesOf(field, 3)));
  return [{ rule: "required", values: [undefined], below: "" }, ...enumFaults, ...own, ...cel];
}

function misspelling(field: DescField): Fault {
  const [of, below] = field.fieldKind === "list" ? [(value: JsonValue) => [value], "[0]"] : [same, ""];
  return {
    rule: "enum.defined_only",
    values: [of(unknownEnum.number)],
    restValue: of(unknownEnum.name),
    below,
  };
}

function expressionFault(rule: string, values: Fault["values"]): Fault {
  return { rule, values, below: "", isExpression: true };
}

function same(value: JsonValue): JsonValue {
  return value;
}

function faultsOfRules(field: DescField, rules: FieldRules): Fault[] {
  if (rules.type.case === "repeated") {
    const inItems = elementFaults(field, rules.type.value.items, (value) => [value], "[0]");
    return [...limitFaults(field, rules), ...inItems];
  }
  if (rules.type.case !== "map") return limitFaults(field, rules);
  const value = Object.values(validValue(field) as JsonObject)[0] ?? "";
  const { keys, values } = rules.type.value;
  const inKeys = elementFaults(
    field,
    keys,
    (key) => ({ [String(key)]: value }),
    (key) => mapStep(String(key)),
  );
  const inValues = elementFaults(field, values, (each) => ({ key: each }), ".key");
  return [...limitFaults(field, rules), ...inKeys, ...inValues];
}

/** How paths in errors write a map's key. */
function mapStep(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `["${key}"]`;
}

function elementFaults(
  field: DescField,
  rules: FieldRules | undefined,
  wrap: (value: JsonValue) => JsonValue,
  below: string | ((value: JsonValue) => string),
): Fault[] {
  if (rules === undefined) return [];
  const cel = rules.cel.map(({ id }): Fault => expressionFault(id, elementValues(field, 3)));
  return [...limitFaults(field, rules), ...cel].map((fault) => {
    const [value] = fault.values;
    const place = typeof below === "string" ? below : below(value ?? "");
    return { ...fault, values: fault.values.map((each) => each !== undefined && wrap(each)), below: place };
  });
}

function limitFaults(field: DescField, rules: FieldRules): Fault[] {
  const type = rules.type.case;
  const desc = FieldRulesSchema.fields.find(({ localName }) => localName === type)?.message;
  if (type === undefined || desc === undefined || rules.type.value === undefined) return [];
  const given = reflect(desc, rules.type.value);
  return desc.fields.flatMap((rule): Fault[] => {
    // Rules of elements have their own faults; every enum gets an unknown value, whatever its rules.
    if (!given.isSet(rule) || ["items", "keys", "values", "defined_only"].includes(rule.name)) return [];
    const name = `${type}.${rule.name}`;
    const values = breakers[name]?.(given.get(rule), field);
    if (values === undefined) throw new Error(`${field}: nothing here knows how to break the rule ${name}`);
    return [{ rule: name, values, below: "" }];
  });
}

type Breaker = (limit: unknown, field: DescField) => readonly JsonValue[];

const below: Breaker = (limit) => [numeric(limit, -1n), numeric(limit, -2n)];
const above: Breaker = (limit) => [numeric(limit, 1n), numeric(limit, 2n)];
const numberBreakers = {
  not_in: (list: unknown) => Array.from(list as Iterable<number | bigint>, (each) => numeric(each, 0n)),
  gte: below,
  gt: (limit: unknown) => [numeric(limit, 0n)],
  lte: above,
  lt: (limit: unknown) => [numeric(limit, 0n)],
};

/** 64-bit numbers are texts in JSON. */
function numeric(limit: unknown, step: bigint): JsonValue {
  return typeof limit === "bigint" ? String(limit + step) : Number(limit) + Number(step);
}

/** By rule: values just over the limit. */
const breakers: Readonly<Record<string, Breaker>> = {
  "string.min_len": (limit) => ["x".repeat(Number(limit) - 1)],
  "string.max_len": (limit) => ["x".repeat(Number(limit) + 1)],
  // Characters of two bytes, so that the text has not too many characters.
  "string.max_bytes": (limit) => ["é".repeat(Math.floor(Number(limit) / 2) + 1)],
  "string.pattern": () => ["!", "x".repeat(200), "é"],
  "string.in": () => ["no such value"],
  "string.not_in": (list) => [...(list as Iterable<string>)],
  "string.not_contains": (text) => [`a${text}b`],
  "string.uuid": () => ["not-a-uuid"],
  "string.email": () => ["not an address"],
  "string.uri": () => ["not an address"],
  "enum.not_in": (list, { enum: desc }) =>
    Array.from(list as Iterable<number>, (number) => desc?.value[number]?.name ?? number),
  "bytes.max_len": (limit) => [Buffer.alloc(Number(limit) + 1).toString("base64")],
  "double.finite": () => ["NaN"],
  "float.finite": () => ["NaN"],
  ...Object.fromEntries(
    ["int32", "int64", "uint32", "uint64", "float", "double"].flatMap((type) =>
      Object.entries(numberBreakers).map(([rule, breaker]) => [`${type}.${rule}`, breaker]),
    ),
  ),
  "repeated.min_items": (limit, field) => [validElements(field, Number(limit) - 1)],
  "repeated.max_items": (limit, field) => [validElements(field, Number(limit) + 1)],
  "repeated.unique": (_, field) => [[...validElements(field, 1), ...validElements(field, 1)]],
  "map.max_pairs": (limit) => [
    Object.fromEntries(Array.from({ length: Number(limit) + 1 }, (_, index) => [`key${index}`, "value"])),
  ],
};
