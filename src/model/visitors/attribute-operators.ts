import { daysInMonth, localTime } from "../local-time.ts";

/** How an attribute's value is compared: the contract's operators, without their prefix. */
export type AttributeOperator =
  | "STRING_EQUALS"
  | "STRING_NOT_EQUALS"
  | "STRING_CONTAINS"
  | "STRING_NOT_CONTAINS"
  | "STRING_STARTS_WITH"
  | "STRING_ENDS_WITH"
  | "STRING_IS_EMPTY"
  | "STRING_IS_NOT_EMPTY"
  | "NUMBER_EQUALS"
  | "NUMBER_NOT_EQUALS"
  | "NUMBER_GREATER_THAN"
  | "NUMBER_GREATER_THAN_OR_EQUAL"
  | "NUMBER_LESS_THAN"
  | "NUMBER_LESS_THAN_OR_EQUAL"
  | "NUMBER_IS_EMPTY"
  | "NUMBER_IS_NOT_EMPTY"
  | "DATE_EQUALS"
  | "DATE_BEFORE"
  | "DATE_AFTER"
  | "DATE_IS_EMPTY"
  | "DATE_IS_NOT_EMPTY"
  | "BOOLEAN_IS_TRUE"
  | "BOOLEAN_IS_FALSE"
  | "BOOLEAN_IS_EMPTY";

interface Comparison {
  /** What the operator compares with; undefined when it needs nothing. */
  readonly operand?: "text" | "number" | "date";
  /** Whether a value that is missing or empty matches. */
  readonly matchesEmpty?: boolean;
  /** Whether a value that is there matches. */
  readonly matches: (stored: string, wanted: string, timezone: string) => boolean;
}

const emptiness: Comparison = { matchesEmpty: true, matches: () => false };

const comparisons: { readonly [Operator in AttributeOperator]: Comparison } = {
  STRING_EQUALS: ofText((stored, wanted) => stored === wanted),
  STRING_NOT_EQUALS: negative(ofText((stored, wanted) => stored !== wanted)),
  STRING_CONTAINS: ofText((stored, wanted) => stored.includes(wanted)),
  STRING_NOT_CONTAINS: negative(ofText((stored, wanted) => !stored.includes(wanted))),
  STRING_STARTS_WITH: ofText((stored, wanted) => stored.startsWith(wanted)),
  STRING_ENDS_WITH: ofText((stored, wanted) => stored.endsWith(wanted)),
  STRING_IS_EMPTY: emptiness,
  STRING_IS_NOT_EMPTY: { matches: () => true },
  NUMBER_EQUALS: ofNumbers((stored, wanted) => stored === wanted),
  NUMBER_NOT_EQUALS: negative(ofNumbers((stored, wanted) => stored !== wanted)),
  NUMBER_GREATER_THAN: ofNumbers((stored, wanted) => stored > wanted),
  NUMBER_GREATER_THAN_OR_EQUAL: ofNumbers((stored, wanted) => stored >= wanted),
  NUMBER_LESS_THAN: ofNumbers((stored, wanted) => stored < wanted),
  NUMBER_LESS_THAN_OR_EQUAL: ofNumbers((stored, wanted) => stored <= wanted),
  NUMBER_IS_EMPTY: emptiness,
  NUMBER_IS_NOT_EMPTY: { matches: (stored) => parseNumber(stored) !== undefined },
  DATE_EQUALS: ofDates((stored, wanted, timezone) => dayOf(stored, timezone) === dayOf(wanted, timezone)),
  DATE_BEFORE: ofDates((stored, wanted, timezone) => compareDates(stored, wanted, timezone) < 0),
  DATE_AFTER: ofDates((stored, wanted, timezone) => compareDates(stored, wanted, timezone) > 0),
  DATE_IS_EMPTY: emptiness,
  DATE_IS_NOT_EMPTY: { matches: (stored) => parseDate(stored) !== undefined },
  BOOLEAN_IS_TRUE: { matches: (stored) => parseBoolean(stored) === true },
  BOOLEAN_IS_FALSE: { matches: (stored) => parseBoolean(stored) === false },
  BOOLEAN_IS_EMPTY: emptiness,
};

export function isAttributeOperator(name: string): name is AttributeOperator {
  return Object.hasOwn(comparisons, name);
}

/**
 * Whether an attribute's value matches. Text is compared whatever its case. An attribute that is missing or empty matches
 * the IS_EMPTY and NOT_ operators only, and one that does not parse as the operator's type matches none of that type; so
 * does everything with a `wanted` that does not parse. Days are those of the time zone.
 */
export function matchesAttribute(
  operator: AttributeOperator,
  stored: string | undefined,
  wanted: string,
  timezone: string,
): boolean {
  const { matchesEmpty = false, matches } = comparisons[operator];
  return stored === undefined || stored === "" ? matchesEmpty : matches(stored, wanted, timezone);
}

/** Whether the operator is one of those that ask for emptiness: the only ones that match nobody's attributes. */
export function asksForEmptiness(operator: AttributeOperator): boolean {
  return comparisons[operator] === emptiness;
}

/** What `wanted` has to be, when it cannot be compared with by this operator; undefined when it can. */
export function operandFault(operator: AttributeOperator, wanted: string): "number" | "date" | undefined {
  const { operand } = comparisons[operator];
  if (operand === "number" && parseNumber(wanted) === undefined) return "number";
  if (operand === "date" && parseDate(wanted) === undefined) return "date";
  return undefined;
}

const numberForm = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** The largest number has 309 digits; who writes more of them means no number. */
const numberLengthMax = 400;

/** A decimal number, such as `-1.5` or `2e3`; undefined when the text is none. */
export function parseNumber(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed.length > numberLengthMax || !numberForm.test(trimmed)) return undefined;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : undefined;
}

/** `true` or `false`, whatever the case; undefined for everything else. */
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
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** Room for more digits of a second than any clock has. */
const dateLengthMax = 64;

/** An ISO 8601 date, or a date and time, in UTC unless it says otherwise; undefined when the text is none. */
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

/** By the moment where both have one, else by the day. */
function compareDates(a: ParsedDate, b: ParsedDate, timezone: string): number {
  if (a.at !== undefined && b.at !== undefined) return a.at.getTime() - b.at.getTime();
  return dayOf(a, timezone) - dayOf(b, timezone);
}

function ofText(matches: (stored: string, wanted: string) => boolean): Comparison {
  return {
    operand: "text",
    matches: (stored, wanted) => matches(stored.toLowerCase(), wanted.toLowerCase()),
  };
}

function ofNumbers(matches: (stored: number, wanted: number) => boolean): Comparison {
  return {
    operand: "number",
    matches: (stored, wanted) => {
      const a = parseNumber(stored);
      const b = parseNumber(wanted);
      return a !== undefined && b !== undefined && matches(a, b);
    },
  };
}

function ofDates(matches: (stored: ParsedDate, wanted: ParsedDate, timezone: string) => boolean): Comparison {
  return {
    operand: "date",
    matches: (stored, wanted, timezone) => {
      const a = parseDate(stored);
      const b = parseDate(wanted);
      return a !== undefined && b !== undefined && matches(a, b, timezone);
    },
  };
}

function negative(comparison: Comparison): Comparison {
  return { ...comparison, matchesEmpty: true };
}
