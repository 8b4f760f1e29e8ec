import { contains } from "../../lib/contains.ts";
import { daysInMonth, localTime } from "../local-time.ts";
import type { AttributeType } from "../workflow/attribute-capture.ts";

/** How an attribute's value is compared: the contract's operators, without their prefix. */
export type AttributeOperator = keyof typeof comparisons;

/** The prefix of operators where their names stand in full. */
export const operatorPrefix = "VISITOR_ATTRIBUTE_FILTER_OPERATOR_";

/** An attribute as it is stored. */
export interface StoredAttribute {
  readonly value: string;
  /** The type that it was captured as. */
  readonly type: AttributeType;
}

interface Comparison {
  /** The type of value that the operator compares with. Undefined for operators that compare with nothing. */
  readonly operand: "text" | "number" | "date" | undefined;
  readonly matches: (stored: StoredAttribute | undefined, wanted: string, timezone: string) => boolean;
}

const comparisons = {
  STRING_EQUALS: ofText((stored, wanted) => stored === wanted),
  STRING_NOT_EQUALS: ofText((stored, wanted) => stored !== wanted),
  STRING_CONTAINS: ofText(contains),
  STRING_NOT_CONTAINS: ofText((stored, wanted) => !contains(stored, wanted)),
  STRING_STARTS_WITH: ofText((stored, wanted) => stored.startsWith(wanted)),
  STRING_ENDS_WITH: ofText((stored, wanted) => stored.endsWith(wanted)),
  STRING_IS_EMPTY: alone((stored) => (stored?.value ?? "") === ""),
  STRING_IS_NOT_EMPTY: alone((stored) => (stored?.value ?? "") !== ""),
  NUMBER_EQUALS: ofNumbers((stored, wanted) => stored === wanted),
  NUMBER_NOT_EQUALS: ofNumbers((stored, wanted) => stored !== wanted),
  NUMBER_GREATER_THAN: ofNumbers((stored, wanted) => stored > wanted),
  NUMBER_LESS_THAN: ofNumbers((stored, wanted) => stored < wanted),
  NUMBER_GREATER_OR_EQUAL: ofNumbers((stored, wanted) => stored >= wanted),
  NUMBER_LESS_OR_EQUAL: ofNumbers((stored, wanted) => stored <= wanted),
  DATE_EQUALS: ofDates((stored, wanted, timezone) => dayOf(stored, timezone) === dayOf(wanted, timezone)),
  DATE_BEFORE: ofDates((stored, wanted, timezone) => compareDates(stored, wanted, timezone) < 0),
  DATE_AFTER: ofDates((stored, wanted, timezone) => compareDates(stored, wanted, timezone) > 0),
  DATE_BEFORE_OR_EQUAL: ofDates((stored, wanted, timezone) => compareDates(stored, wanted, timezone) <= 0),
  DATE_AFTER_OR_EQUAL: ofDates((stored, wanted, timezone) => compareDates(stored, wanted, timezone) >= 0),
  BOOLEAN_IS_TRUE: alone((stored) => isTrue(stored)),
  BOOLEAN_IS_FALSE: alone((stored) => !isTrue(stored)),
  EXISTS: alone((stored) => stored !== undefined),
  NOT_EXISTS: alone((stored) => stored === undefined),
} as const satisfies Readonly<Record<string, Comparison>>;

/** The operator of this name, with or without its prefix. Undefined for any other name. */
export function operatorNamed(name: string): AttributeOperator | undefined {
  const plain = name.startsWith(operatorPrefix) ? name.slice(operatorPrefix.length) : name;
  return isAttributeOperator(plain) ? plain : undefined;
}

function isAttributeOperator(name: string): name is AttributeOperator {
  return Object.hasOwn(comparisons, name);
}

/**
 * Whether an attribute matches. `stored` is undefined when the visitor does not have the attribute. Text is compared as
 * it is, and a missing attribute reads as empty text. NUMBER_ and DATE_ match only what was captured as a number or a
 * date and reads as one. Days are those of the time zone.
 */
export function matchesAttribute(
  operator: AttributeOperator,
  stored: StoredAttribute | undefined,
  wanted: string,
  timezone: string,
): boolean {
  return comparisons[operator].matches(stored, wanted, timezone);
}

/** A question about an attribute, as a caller asks it. */
export interface AskedComparison {
  /** Reserved keys begin with `$`. */
  readonly key: string;
  /** Undefined when the caller named no operator that exists. */
  readonly operator: AttributeOperator | undefined;
  readonly wanted: string;
}

/** What is wrong with a question: which part of it, and what to do about it. Undefined when nothing is wrong. */
export function comparisonFault({
  key,
  operator,
  wanted,
}: AskedComparison): { readonly part: "operator" | "wanted"; readonly description: string } | undefined {
  if (operator === undefined)
    return { part: "operator", description: "must be an operator, such as STRING_EQUALS" };
  if (key.startsWith("$") && /^(?:NUMBER|DATE|BOOLEAN)_/.test(operator))
    return {
      part: "operator",
      description: `must be a STRING_ operator, EXISTS or NOT_EXISTS: ${key} is always text`,
    };
  const { operand } = comparisons[operator];
  if (operand === "number" && parseNumber(wanted) === undefined)
    return { part: "wanted", description: "must be a number" };
  if (operand === "date" && parseDate(wanted) === undefined)
    return {
      part: "wanted",
      description: "must be a date, such as 2026-05-01, or a time, such as 2026-05-01T10:00:00Z",
    };
  return undefined;
}

const numberForm = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;

/** The largest number has 309 digits, so a much longer text means no number. */
export const numberLengthMax = 400;

/** A decimal number, such as `-1.5` or `2e3`. Undefined when the text is none. */
export function parseNumber(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed.length > numberLengthMax || !numberForm.test(trimmed)) return undefined;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : undefined;
}

/** `true` or `false`, in any case. Undefined for everything else. */
export function parseBoolean(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  return word === "true" ? true : word === "false" ? false : undefined;
}

/** A day of the calendar, or a moment. */
export interface ParsedDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** Undefined for a day, which has no time zone. */
  readonly at: Date | undefined;
}

const dateForm =
  /^(?!0000)(\d{4})-(\d{2})-(\d{2})(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?)?$/i;

/** Room for more digits of a second than any clock has. */
export const dateLengthMax = 64;

/** An ISO 8601 date, or a date and time, in UTC unless it says otherwise. Undefined when the text is none. */
export function parseDate(text: string): ParsedDate | undefined {
  const trimmed = text.trim();
  const match = trimmed.length > dateLengthMax ? null : dateForm.exec(trimmed);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0] = match.slice(1, 4).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (trimmed.length === 10) return { year, month, day, at: undefined };
  const at = new Date(trimmed.replace(" ", "T").toUpperCase() + (match[4] === undefined ? "Z" : ""));
  return Number.isNaN(at.getTime()) ? undefined : { year, month, day, at };
}

function dayOf({ at, year, month, day }: ParsedDate, timezone: string): number {
  const local = at === undefined ? { year, month, day } : localTime(at, timezone);
  return (local.year * 12 + local.month) * 31 + local.day;
}

/** Compares moments when both have one, else days. */
function compareDates(a: ParsedDate, b: ParsedDate, timezone: string): number {
  if (a.at !== undefined && b.at !== undefined) return a.at.getTime() - b.at.getTime();
  return dayOf(a, timezone) - dayOf(b, timezone);
}

function ofText(matches: (stored: string, wanted: string) => boolean): Comparison {
  return { operand: "text", matches: (stored, wanted) => matches(stored?.value ?? "", wanted) };
}

function alone(matches: (stored: StoredAttribute | undefined) => boolean): Comparison {
  return { operand: undefined, matches };
}

function isTrue(stored: StoredAttribute | undefined): boolean {
  return stored !== undefined && parseBoolean(stored.value) === true;
}

function ofNumbers(matches: (stored: number, wanted: number) => boolean): Comparison {
  return {
    operand: "number",
    matches: (stored, wanted) => {
      const a = stored?.type === "NUMBER" ? parseNumber(stored.value) : undefined;
      const b = a === undefined ? undefined : parseNumber(wanted);
      return a !== undefined && b !== undefined && matches(a, b);
    },
  };
}

function ofDates(matches: (stored: ParsedDate, wanted: ParsedDate, timezone: string) => boolean): Comparison {
  return {
    operand: "date",
    matches: (stored, wanted, timezone) => {
      const a = stored?.type === "DATE" ? parseDate(stored.value) : undefined;
      const b = a === undefined ? undefined : parseDate(wanted);
      return a !== undefined && b !== undefined && matches(a, b, timezone);
    },
  };
}
