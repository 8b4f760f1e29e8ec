import {
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  type JsonValue,
} from "@bufbuild/protobuf";
import {
  field as fieldRules,
  Ignore,
  message as messageRules,
  oneof as oneofRules,
} from "../../gen/buf/validate/validate_pb.js";
import { type Fault, faultsOf } from "./faults.ts";
import { breaks, breaksOnly, brokenRules } from "./rules.ts";
import { findChanged, isRequired, leastOf, put, withField } from "./valid.ts";

/** A request that is fine but for one rule. */
export interface Case {
  /** The field and the rule: `payload.form.formFields[0].key string.pattern`. */
  readonly name: string;
  readonly request: JsonObject;
  /** Over REST, where that differs. */
  readonly restRequest: JsonObject;
  /** The field at fault; of an expression, the field or message that it is about. */
  readonly field: string;
  /** Whether the answer may blame a field below it instead. */
  readonly isExpression: boolean;
}

/** A message somewhere in a request. */
interface Place {
  readonly desc: DescMessage;
  readonly path: string;
  /** The message as the request needs it at least. */
  readonly json: JsonObject;
  /** Makes the request around it. */
  readonly wrap: (json: JsonObject) => JsonObject;
  readonly above: readonly DescMessage[];
}

/** Every rule of every field of a request, at any depth, broken once. */
export function casesOf(input: DescMessage): Case[] {
  return casesAt({ desc: input, path: "", json: leastOf(input), wrap: (json) => json, above: [] });
}

function casesAt(place: Place): Case[] {
  return [...messageCases(place), ...place.desc.fields.flatMap((field) => fieldCases(place, field))];
}

function messageCases({ desc, path, json, wrap }: Place): Case[] {
  const ofMessage = (rule: string, broken: JsonObject, isExpression: boolean): Case => {
    const request = wrap(broken);
    return { name: `${path} ${rule}`, request, restRequest: request, field: path, isExpression };
  };
  const choices = desc.oneofs.filter((oneof) => getOption(oneof, oneofRules).required);
  const unchosen = choices.map(({ fields, name }) => {
    const chosen = new Set(fields.map(({ jsonName }) => jsonName));
    const others = Object.entries(json).filter(([key]) => !chosen.has(key));
    return ofMessage(`${name} required`, Object.fromEntries(others), false);
  });
  const expressions = getOption(desc, messageRules).cel.map(({ id }) => {
    const broken = findChanged(desc, json, (each) => breaksOnly(desc, each, id));
    if (broken === undefined) throw new Error(`${desc.typeName}: found nothing that breaks ${id} alone`);
    return ofMessage(id, broken, true);
  });
  return [...unchosen, ...expressions];
}

function fieldCases(place: Place, field: DescField): Case[] {
  const base = withField(place.desc, place.json, field);
  const path = place.path === "" ? field.jsonName : `${place.path}.${field.jsonName}`;
  const cases = faultsOf(field).flatMap((fault): Case[] => {
    const value = breakingValue(place.desc, base, field, fault);
    if (value === "none") return [];
    const request = place.wrap(put(base, field, value.value));
    const restRequest =
      fault.restValue === undefined ? request : place.wrap(put(base, field, fault.restValue));
    return [
      {
        name: `${path} ${fault.rule}`,
        request,
        restRequest,
        field: path + fault.below,
        isExpression: fault.isExpression === true,
      },
    ];
  });
  return [...cases, ...casesBelow(place, field, base, path)];
}

/** The first value that breaks the rule; none of a field that may be left out. */
function breakingValue(
  desc: DescMessage,
  base: JsonObject,
  field: DescField,
  { rule, values, isExpression }: Fault,
): { value: JsonValue | undefined } | "none" {
  if (rule === "enum.defined_only") return { value: values[0] };
  if (rule === "required") {
    const isNeeded = isRequired(field) || asksFor(desc, put(base, field, undefined), field);
    return isNeeded ? { value: undefined } : "none";
  }
  const isBroken = isExpression ? breaksOnly : breaks;
  const index = values.findIndex((value) => isBroken(desc, put(base, field, value), rule));
  if (index < 0) throw new Error(`${field}: found nothing that breaks ${rule}`);
  return { value: values[index] };
}

function asksFor(desc: DescMessage, json: JsonObject, field: DescField): boolean {
  return brokenRules(desc, json).some(({ field: path }) => path[0] === field);
}

/** The cases of the message in a field, unless it stands in one of its own kind or its rules do not count there. */
function casesBelow(place: Place, field: DescField, base: JsonObject, path: string): Case[] {
  const { message } = field;
  const above = [...place.above, place.desc];
  if (message === undefined || above.includes(message) || message.typeName.startsWith("google.protobuf."))
    return [];
  const { type } = getOption(field, fieldRules);
  if (type.case === "repeated" && type.value.items?.ignore === Ignore.ALWAYS) return [];
  const value = base[field.jsonName];
  if (field.fieldKind === "message") {
    const wrap = (json: JsonObject) => place.wrap(put(base, field, json));
    return casesAt({ desc: message, path, json: objectIn(value), wrap, above });
  }
  if (field.fieldKind !== "list" || !Array.isArray(value))
    throw new Error(`${field}: has no way into its messages`);
  const [first, ...rest] = value;
  const wrap = (json: JsonObject) => place.wrap(put(base, field, [json, ...rest]));
  return casesAt({ desc: message, path: `${path}[0]`, json: objectIn(first), wrap, above });
}

function objectIn(value: JsonValue | undefined): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Error(`${JSON.stringify(value)} is no message`);
}
