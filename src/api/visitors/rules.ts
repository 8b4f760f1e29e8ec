import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { VisitorAttributeFilterOperator } from "../../../gen/signpost/v1/visitor_pb.js";
import type { AttributeFilter } from "../../../gen/signpost/v1/visitors_service_pb.js";
import {
  type CallError,
  type Fault,
  type FieldViolation,
  faultsFrom,
  invalid,
  invalidArgument,
} from "../../lib/errors.ts";
import {
  type AttributeOperator,
  comparisonFault,
  operatorNamed,
  parseDate,
} from "../../model/visitors/attribute-operators.ts";
import type { AttributeType } from "../../model/workflow/attribute-capture.ts";
import type { AttributeQuestion } from "../../visitors/pages/match-page.ts";
import { readEmail, readPhone } from "../../workflow/identity.ts";

/** A value as a caller gave it. Null deletes the attribute. Reserved keys begin with `$`. */
export interface GivenValue {
  readonly key: string;
  readonly value: string | null;
  readonly type: AttributeType;
}

/** A value that is not null. */
export type GivenText = GivenValue & { readonly value: string };

const attributesMax = 200;
const valueBytesMax = 4_096;
const nameLengthMax = 255;
const keyForm = /^[\p{L}\p{M}\p{Nd}_. -]{1,64}$/u;

/**
 * Reads values from the top level, or from an object under the only key `data`. Throws INVALID_ARGUMENT with every
 * fault.
 */
export function readValues(visitor: JsonObject | undefined): GivenValue[] {
  const { path, fields } = unwrapped(visitor ?? {});
  const faults: FieldViolation[] = [];
  const values = Object.entries(fields).flatMap(([key, json]): GivenValue[] => {
    const read = key.startsWith("$") ? readReserved(key, json) : readCustom(key, json);
    if (typeof read !== "string") return [read];
    faults.push({ field: path + step(key), description: read });
    return [];
  });
  const customCount = values.filter(({ key }) => !key.startsWith("$")).length;
  if (customCount > attributesMax)
    faults.push({ field: path, description: `must have at most ${attributesMax} custom attributes` });
  if (faults.length > 0) throw invalid(faults.slice(0, 100));
  return values;
}

export function valueFaults(visitor: JsonObject | undefined): Fault[] {
  return faultsFrom(() => readValues(visitor));
}

function unwrapped(visitor: JsonObject): { readonly path: string; readonly fields: JsonObject } {
  const { data } = visitor;
  const isWrapped = Object.keys(visitor).length === 1 && isObject(data);
  return isWrapped ? { path: "visitor.data", fields: data } : { path: "visitor", fields: visitor };
}

function isObject(json: JsonValue | undefined): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function step(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 64))}]`;
}

type ReadText = (text: string) => string | undefined;

const reserved: ReadonlyMap<string, readonly [read: ReadText, fault: string]> = new Map([
  [
    "$email",
    [(text) => readEmail(text)?.toLowerCase(), "must be one e-mail address, such as jane@example.com"],
  ],
  [
    "$phone",
    [(text) => readPhone(text), "must be a phone number with its country code, such as +14155550100"],
  ],
  ["$firstName", [nameOf, `must have at most ${nameLengthMax} characters`]],
  ["$lastName", [nameOf, `must have at most ${nameLengthMax} characters`]],
]);

function nameOf(text: string): string | undefined {
  return text.length <= nameLengthMax ? text : undefined;
}

/** A value, or what is wrong with it. An empty text counts as null. */
function readReserved(key: string, json: JsonValue): GivenValue | string {
  const rule = reserved.get(key);
  if (rule === undefined)
    return `is not a reserved key; the reserved keys are ${[...reserved.keys()].join(", ")}`;
  if (json === null || json === "") return { key, value: null, type: "STRING" };
  if (typeof json !== "string") return "must be text";
  const [read, fault] = rule;
  const value = read(json);
  return value === undefined ? fault : { key, value, type: "STRING" };
}

function readCustom(key: string, json: JsonValue): GivenValue | string {
  if (!keyForm.test(key)) return "every key must have 1 to 64 letters, digits, `_`, `-`, `.` or spaces";
  if (json === null) return { key, value: null, type: "STRING" };
  if (typeof json === "boolean") return { key, value: String(json), type: "BOOLEAN" };
  if (typeof json === "number")
    // The Struct of an RPC caller can hold numbers that JSON cannot write, such as infinity.
    return Number.isFinite(json) ? { key, value: String(json), type: "NUMBER" } : "must be a finite number";
  if (typeof json !== "string") return "must be text, a number, a boolean or null";
  if (Buffer.byteLength(json) > valueBytesMax) return `must have at most ${valueBytesMax} bytes`;
  return { key, value: json, type: parseDate(json) === undefined ? "STRING" : "DATE" };
}

export function tooManyAttributes(): CallError {
  return invalid([
    {
      field: "visitor",
      description: `must leave the visitor with at most ${attributesMax} custom attributes`,
    },
  ]);
}

/** Whether a key is a reserved one without its `$`. Visitors may have a custom attribute of such a name. */
export function isReservedName(key: string): boolean {
  return reserved.has(`$${key}`);
}

/** Less than `max_items` of the field, whose refusal would not be TOO_MANY_FILTERS. */
const filtersMax = 20;

/** What is wrong with filters: too many of them, and operators and values that do not fit. */
export function filterFaults(filters: readonly AttributeFilter[]): Fault[] {
  if (filters.length > filtersMax)
    return [
      {
        field: "attributeFilters",
        description: `must have at most ${filtersMax} items`,
        reason: "TOO_MANY_FILTERS",
      },
    ];
  return filters.flatMap(({ key, operator, value }, index) => {
    const fault = comparisonFault({ key, operator: operatorOf(operator), wanted: value });
    if (fault === undefined) return [];
    const field = `attributeFilters[${index}].${fault.part === "operator" ? "operator" : "value"}`;
    return [invalidArgument(field, fault.description)];
  });
}

/** Reads filters that have no faults. */
export function readQuestions(filters: readonly AttributeFilter[]): AttributeQuestion[] {
  return filters.map(({ key, operator: number, value }) => {
    const operator = operatorOf(number);
    if (operator === undefined) throw new Error(`operator ${number} was let through`);
    return { key, operator, wanted: value };
  });
}

function operatorOf(number: VisitorAttributeFilterOperator): AttributeOperator | undefined {
  // A number that is no value of the enum has no name.
  return operatorNamed(VisitorAttributeFilterOperator[number] ?? "");
}
