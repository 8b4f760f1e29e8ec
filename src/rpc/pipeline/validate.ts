import {
  create,
  createRegistry,
  type DescField,
  type DescMessage,
  type DescOneof,
  type Message,
} from "@bufbuild/protobuf";
import { createValidator, type Violation } from "@bufbuild/protovalidate";
import { type CallError, type Fault, type FieldViolation, invalid, refusal } from "../../lib/errors.ts";
import { type FieldPath, fieldPath } from "../../wire/field-path.ts";
import { createMessageReaders } from "../../wire/read-message.ts";
import { mapStep, noteViolation, startReading, violationsMax } from "../../wire/reading.ts";
import type { ReadRequest } from "../handlers.ts";
import { normalizeTexts } from "./normalize.ts";
import { maskFaults, partsNamed, withoutFieldsOf, withParts } from "./update-mask.ts";

/** A request with more elements than this in its lists and maps is checked only up to its first bad field. */
const elementsOfAllFaults = 2_000;

const patterns = new Map<string, RegExp>();

/** The patterns come from protos, and a test holds that each takes linear time: they need no engine of their own. */
function regexMatch(pattern: string, text: string): boolean {
  const known = patterns.get(pattern) ?? new RegExp(pattern, "u");
  patterns.set(pattern, known);
  return known.test(text);
}

/** Notes every broken rule, however many there are: each costs ten times as much as a rule that is kept. */
const thorough = createValidator({ regexMatch });
const upToTheFirst = createValidator({ regexMatch, failFast: true });

/**
 * Normalizes the texts of a request in place, then checks the rules of its fields, then runs its handler's check.
 * Returns the error that lists every bad field: INVALID_ID when only ids are bad. When an update names parts of a
 * field, only these parts are kept, and they are judged when the field is complete.
 */
export function checkRequest(
  message: Message,
  desc: DescMessage,
  checkMore: () => readonly Fault[] | undefined = () => undefined,
): CallError | undefined {
  const parts = partsNamed(message, desc);
  if (parts.length > 0) Object.assign(message, withParts(message, desc, parts));
  const { violations: badTexts, elements } = normalizeTexts(message, desc);
  const bad = [...maskFaults(message, desc), ...badTexts];
  if (bad.length >= violationsMax) return invalid(bad);
  const isLarge = elements > elementsOfAllFaults;
  const result = (isLarge ? upToTheFirst : thorough).validate(
    desc,
    parts.length === 0 ? message : withoutFieldsOf(message, desc, parts),
  );
  if (result.kind === "error") throw result.error;
  const violations = result.violations ?? [];
  const isKept = violations.length === 0 && bad.length === 0;
  const faults = (parts.length === 0 && (isKept || !isLarge) ? checkMore() : undefined) ?? [];
  if (isKept) return refusal(faults);
  const broken = violations.slice(0, violationsMax).map((violation) => describe(violation, desc));
  const isIdsOnly =
    bad.length === 0 &&
    faults.length === 0 &&
    violations.every(({ ruleId }) => ruleId.startsWith("string.uuid"));
  const fields = unlessNamed(unlessNamed(bad, broken), faults, isPart).slice(0, violationsMax);
  return invalid(fields, isIdsOnly ? "INVALID_ID" : "INVALID_ARGUMENT");
}

const readers = createMessageReaders(createRegistry());

/** How many bytes a request is taken to have that comes as JSON from within another one. */
const bytesInside = 16 * 1024;

/** Reads and judges the request of an operation that a handler asks, or that a request describes. */
export const readRequest: ReadRequest = ({ name, input }, json, checkMore) => {
  const reading = startReading(bytesInside);
  const request = create(input);
  const known = input.fields.map(({ jsonName }) => jsonName);
  for (const key of Object.keys(json)) {
    if (input.fields.some((field) => field.jsonName === key || field.name === key)) continue;
    const fields = known.length === 0 ? "it takes none" : `use ${known.join(", ")}`;
    noteViolation(reading, mapStep(key), `is no field of ${name}: ${fields}`);
  }
  readers.fill(input, request, json, reading);
  const { violations } = reading;
  const refused = checkRequest(request, input, () => checkMore?.(request));
  return { request, faults: unlessNamed(violations, refused?.refusal.fields ?? []) };
};

/** Joins two lists of faults; a later fault of a field that is already named is dropped. */
function unlessNamed(
  before: readonly FieldViolation[],
  later: readonly FieldViolation[],
  isNamed = (one: string, field: string) => one === field,
): readonly FieldViolation[] {
  const others = later.filter(({ field }) => !before.some((one) => isNamed(one.field, field)));
  return [...before, ...others.map(({ field, description }) => ({ field, description }))];
}

/** Whether `field` is `whole` or a part of it: a fault of the whole mostly causes those of its parts. */
function isPart(field: string, whole: string): boolean {
  return field.startsWith(whole) && /^(?:$|[.[])/.test(field.slice(whole.length, whole.length + 1));
}

function describe(violation: Violation, desc: DescMessage): FieldViolation {
  const { field, ruleId, message } = violation;
  const path: FieldPath = field.flatMap((step): FieldPath => {
    switch (step.kind) {
      case "list_sub":
        return [step.index];
      case "map_sub":
        return [{ key: String(step.key) }];
      case "field":
        return [step];
      case "extension":
        return [{ key: step.jsonName }];
      default:
        // JSON has no step for a oneof, and the library may add kinds of steps: a path that ends early still leads to
        // the right place.
        return [];
    }
  });
  const owner = field.findLast((step): step is DescField => step.kind === "field");
  const target = ruledField(ruleId, owner === undefined ? desc : owner.message);
  const choice = field.find((step) => step.kind === "oneof");
  const text = choice === undefined ? sentence(ruleId, message) : `needs one of: ${namesOf(choice)}`;
  const description = violation.forKey ? `every key ${text}` : text;
  return { field: fieldPath(target ? [...path, target] : path) || "request", description };
}

function namesOf({ fields }: DescOneof): string {
  return fields.map(({ jsonName }) => jsonName).join(", ");
}

/**
 * Finds the field that a rule of a whole message is about. Such rules are named after that field
 * (`start_date.before_end_date`), because the library does not record it.
 */
function ruledField(ruleId: string, message: DescMessage | undefined): DescField | undefined {
  const [name] = ruleId.split(".");
  return message?.fields.find((field) => field.name === name);
}

/** Says how to mend a broken rule; the library's own words are kept where they already say so. */
function sentence(ruleId: string, message: string): string {
  switch (ruleId) {
    case "required":
      return "is required: give it a value";
    case "string.uuid":
    case "string.uuid_empty":
      return "must be a UUID, such as 0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d";
    case "enum.defined_only":
      return "must be one of the values that the interface defines";
    case "string.email":
      return "must be one e-mail address, such as jane@example.com";
    case "double.finite":
    case "float.finite":
      return "must be a finite number";
    case "repeated.unique":
      return "must not hold the same item twice";
    default:
      return (
        message
          .replace(/^(?:value|map|repeated value) /, "")
          // An empty text in the list stands for none.
          .replace(/^must (not )?be in list \[(?:, )?(.*)\]$/, "must $1be one of: $2")
          .replace(/^must contain no more than (\d+) item\(s\)$/, "must have at most $1 items")
          .replace(/^must contain at least (\d+) item\(s\)$/, "must have at least $1 items")
          .replace(/^must be (?=.*\d (?:characters|bytes|entries)$)/, "must have ")
          .replace(/\b1 (character|item|byte)s\b/, "1 $1")
          .replace(/^does not match regex pattern `(.*)`$/s, "must match the pattern $1")
      );
  }
}
