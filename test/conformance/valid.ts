import {
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { portablePattern } from "../../build/openapi/portable-pattern.ts";
import { type FieldRules, field as fieldRules } from "../../gen/buf/validate/validate_pb.js";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.js";
import { example } from "../../gen/signpost/options/v1/documentation_pb.js";
import { brokenRules } from "./rules.ts";

/** Fields of which a request has exactly one, although they are no oneof: the contract has them beside each other. */
const choices: Readonly<Record<string, readonly string[]>> = {
  "signpost.v1.CompleteAgentClaimRequest": ["password", "firebase_token"],
};

function siblingsOf(field: DescField): readonly DescField[] {
  const { oneof, parent, name } = field;
  if (oneof !== undefined) return oneof.fields;
  const choice = choices[parent.typeName];
  return choice?.includes(name) ? parent.fields.filter((each) => choice.includes(each.name)) : [field];
}

const least = new Map<DescMessage, JsonObject>();

/** The smallest valid message, as JSON: it has what its rules and its documentation require. */
export function leastOf(desc: DescMessage): JsonObject {
  const known = least.get(desc);
  if (known !== undefined) return known;
  const required = desc.fields.filter(
    (field) => isRequired(field) || choices[desc.typeName]?.[0] === field.name,
  );
  const json = mend(desc, Object.fromEntries(required.map((field) => [field.jsonName, validValue(field)])));
  least.set(desc, json);
  return json;
}

/** The fullest valid message, one level deep: a value for every field, and one for every oneof. */
export function mostOf(desc: DescMessage): JsonObject {
  let json = leastOf(desc);
  for (const field of desc.fields) {
    if (!isMask(field) && !isChosen(json, field)) json = withField(desc, json, field);
  }
  return json;
}

/** The message with one field given, and with everything that this makes necessary. */
export function withField(desc: DescMessage, json: JsonObject, field: DescField): JsonObject {
  return field.jsonName in json ? json : mend(desc, put(json, field, validValue(field)), field);
}

/** Puts a value into a field, or removes it; of a oneof only one member stays. */
export function put(json: JsonObject, field: DescField, value: JsonValue | undefined): JsonObject {
  const siblings = siblingsOf(field);
  const others = Object.entries(json).filter(([name]) => !siblings.some(({ jsonName }) => jsonName === name));
  return { ...Object.fromEntries(others), ...(value === undefined ? {} : { [field.jsonName]: value }) };
}

export function isRequired(field: DescField): boolean {
  return getOption(field, field_behavior).includes(FieldBehavior.REQUIRED);
}

function isMask({ message }: DescField): boolean {
  return message?.typeName === "google.protobuf.FieldMask";
}

function isChosen(json: JsonObject, field: DescField): boolean {
  return siblingsOf(field).some(({ jsonName }) => jsonName in json);
}

/** Adds what the rules find missing and changes what they refuse, except for the field to keep. */
function mend(desc: DescMessage, json: JsonObject, keep?: DescField): JsonObject {
  for (let mended = json; ; ) {
    const [violation] = brokenRules(desc, mended);
    if (violation === undefined) return mended;
    const [step] = violation.field;
    const missing = step?.kind === "oneof" ? step.fields[0] : step?.kind === "field" ? step : undefined;
    if (missing !== undefined && !(missing.jsonName in mended)) {
      mended = put(mended, missing, validValue(missing));
      continue;
    }
    const found = findChanged(desc, mended, (each) => brokenRules(desc, each).length === 0, keep);
    if (found !== undefined) return found;
    throw new Error(`${desc.typeName}: ${violation.ruleId} refuses ${JSON.stringify(mended)}; give examples`);
  }
}

/** A value that the rules of a field allow; a list has as few elements as allowed, but at least one. */
export function validValue(field: DescField): JsonValue {
  const rules = getOption(field, fieldRules);
  if (field.fieldKind === "map") return { key: validElement(field, mapValues(rules), 0) };
  if (field.fieldKind !== "list") return validElement(field, rules, 0);
  const count = rules.type.case === "repeated" ? Number(rules.type.value.minItems) : 0;
  return validElements(field, Math.max(1, count));
}

/** Elements of a list, as different from each other as the field allows. */
export function validElements(field: DescField, count: number): JsonValue[] {
  const { type } = getOption(field, fieldRules);
  const items = type.case === "repeated" ? type.value.items : undefined;
  return Array.from({ length: count }, (_, index) => validElement(field, items, index));
}

function mapValues({ type }: FieldRules): FieldRules | undefined {
  return type.case === "map" ? type.value.values : undefined;
}

function validElement(field: DescField, rules: FieldRules | undefined, index: number): JsonValue {
  const given = examplesOf(field)[index];
  if (given !== undefined) return given;
  const { enum: enumeration, message, scalar } = field;
  if (enumeration !== undefined) {
    const named = enumeration.values.filter(({ number }) => number !== 0);
    return (named[index % named.length] ?? enumeration.values[0])?.name ?? 0;
  }
  if (message !== undefined) return wellKnown[message.typeName] ?? leastOf(message);
  if (scalar === ScalarType.BOOL) return true;
  if (scalar === ScalarType.BYTES) return "AAEC";
  return scalar === ScalarType.STRING ? validText(field, rules, index) : validNumber(rules);
}

const wellKnown: Readonly<Record<string, JsonValue>> = {
  "google.protobuf.Timestamp": "2026-01-31T09:30:00Z",
  "google.protobuf.Duration": "5s",
  "google.protobuf.FieldMask": "",
  "google.protobuf.Struct": { key: "value" },
};

/** The examples of the documentation: texts as they are, other values as JSON. */
function examplesOf(field: DescField): JsonValue[] {
  if (!hasOption(field, example)) return [];
  const isText = field.enum !== undefined || field.scalar === ScalarType.STRING;
  return getOption(field, example).map((text) => (isText ? text : JSON.parse(text)));
}

function validNumber(rules: FieldRules | undefined): number {
  // Every kind of number has its limits in such a oneof.
  const bounds = rules?.type.value as Bounds | undefined;
  const least = bounds?.greaterThan?.value ?? 1;
  const most = bounds?.lessThan?.value ?? least;
  return Number(most) < Number(least) ? Number(most) : Math.max(Number(least), Math.min(1, Number(most)));
}

interface Bounds {
  readonly greaterThan?: { readonly value?: number | bigint };
  readonly lessThan?: { readonly value?: number | bigint };
}

function validText(field: DescField, rules: FieldRules | undefined, index: number): string {
  if (rules?.type.case !== "string") return `text ${index}`;
  const { in: allowed, pattern, wellKnown: form, minLen, maxLen } = rules.type.value;
  const named = allowed.filter((each) => each !== "");
  if (named.length > 0) return named[index % named.length] ?? "";
  if (form.case === "uuid") return `0198f0c2-7d3a-7c55-9b1e-${index.toString(16).padStart(12, "0")}`;
  if (form.case === "email") return `ada.${index}@example.com`;
  if (form.case !== undefined)
    throw new Error(`${field}: nothing is known of the form ${form.case}; give it an example`);
  if (pattern !== "") return textLike(field, pattern, index);
  return `${index}${"text".repeat(Math.ceil(Number(minLen) / 4) || 1)}`.slice(0, Number(maxLen) || undefined);
}

/** A text that matches a pattern; a pattern that fast-check cannot follow needs an example in the documentation. */
function textLike(field: DescField, pattern: string, index: number): string {
  const real = new RegExp(pattern, "u");
  const texts = fc.sample(fc.stringMatching(new RegExp(portablePattern(pattern))), { seed: 1, numRuns: 200 });
  const fitting = [...new Set(texts)].filter(
    (text) => text !== "" && text === text.trim() && real.test(text),
  );
  const text = fitting[index % fitting.length];
  if (text === undefined)
    throw new Error(`${field}: nothing is known that its pattern allows; give it an example`);
  return text;
}

/** The first message that passes the test, among those that differ in one field or two. */
export function findChanged(
  desc: DescMessage,
  json: JsonObject,
  isFound: (json: JsonObject) => boolean,
  keep?: DescField,
): JsonObject | undefined {
  const fields = desc.fields.filter((field) => field !== keep && !isMask(field));
  // Some rules compare two texts.
  const texts = Object.values(json).filter((value) => typeof value === "string");
  const changes = fields.flatMap((field) => {
    const isText = field.fieldKind === "scalar" && field.scalar === ScalarType.STRING;
    return [...valuesOf(field, 3), ...(isText ? texts : [])].map((value) => ({ field, value }));
  });
  for (const { field, value } of changes) {
    const once = put(json, field, value);
    if (isFound(once)) return once;
  }
  for (const first of changes) {
    for (const second of changes) {
      if (first.field === second.field) continue;
      const twice = put(put(json, first.field, first.value), second.field, second.value);
      if (isFound(twice)) return twice;
    }
  }
  return undefined;
}

/** Values that may make a difference to a rule, valid or not. */
export function valuesOf(field: DescField, depth: number): (JsonValue | undefined)[] {
  if (field.fieldKind === "map") return [undefined, validValue(field)];
  const elements = elementValues(field, depth);
  if (field.fieldKind !== "list") return [undefined, ...elements];
  return [undefined, ...elements.flatMap((each) => [[each], [each, each]]), validElements(field, 2)];
}

/** The same for an element of a list. */
export function elementValues(field: DescField, depth: number): JsonValue[] {
  const { enum: enumeration, message, scalar } = field;
  if (enumeration !== undefined) return enumeration.values.map(({ name }) => name);
  if (message?.typeName === "google.protobuf.Timestamp")
    return ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"];
  if (message !== undefined) return messageValues(field, message, depth);
  if (scalar === ScalarType.BOOL) return [true, false];
  if (scalar === ScalarType.BYTES) return ["AAEC"];
  if (scalar !== ScalarType.STRING) return [1, 2, 31, 1000, 0, -2];
  const own = field.fieldKind === "list" ? validElements(field, 1) : [validValue(field)];
  return ["", ...own, "!", ",", "x".repeat(3000)];
}

function messageValues(field: DescField, message: DescMessage, depth: number): JsonValue[] {
  const own = wellKnown[message.typeName];
  if (own !== undefined) return [own];
  const base = leastOf(message);
  if (depth === 0) return [base];
  const changed = message.fields.flatMap((each) =>
    valuesOf(each, depth - 1).map((value) => put(base, each, value)),
  );
  return field.parent === message ? [base] : [base, ...changed];
}
