import {
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  type JsonValue,
} from "@bufbuild/protobuf";
import { message as messageRules, oneof as oneofRules } from "../../gen/buf/validate/validate_pb.js";
import { type Fault, faultsOf } from "./faults.ts";
import { type Place, pathTo, placesOf } from "./places.ts";
import { breaks, breaksOnly, brokenRules } from "./rules.ts";
import { findChanged, isRequired, put, withField } from "./valid.ts";

/** A request that breaks exactly one rule. */
export interface Case {
  /** The field and the rule: `payload.form.formFields[0].key string.pattern`. */
  readonly name: string;
  readonly request: JsonObject;
  /** The request over REST, if it differs. */
  readonly restRequest: JsonObject;
  /** The field at fault; for an expression, the field or message that it is about. */
  readonly field: string;
  /** Whether the answer may blame a field below it instead. */
  readonly isExpression: boolean;
}

/** Every rule of every field of a request, at any depth, each broken once. */
export function casesOf(input: DescMessage): Case[] {
  return placesOf(input).flatMap((place) => [
    ...messageCases(place),
    ...place.desc.fields.flatMap((field) => fieldCases(place, field)),
  ]);
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
  const path = pathTo(place, field);
  return faultsOf(field).flatMap((fault): Case[] => {
    const value = breakingValue(place.desc, base, field, fault);
    if (value === "none") return [];
    const request = place.wrap(put(base, field, value.value));
    const { restValue, rule, below, isExpression = false } = fault;
    const restRequest = restValue === undefined ? request : place.wrap(put(base, field, restValue));
    return [{ name: `${path} ${rule}`, request, restRequest, field: path + below, isExpression }];
  });
}

/** The first value that breaks the rule; undefined for a field that may be left out. */
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
