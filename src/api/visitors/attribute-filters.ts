import { type RawBuilder, sql } from "kysely";
import { AttributeOperator as WireOperator } from "../../../gen/signpost/v1/visitor_pb.js";
import type { AttributeFilter } from "../../../gen/signpost/v1/visitors_service_pb.js";
import { type FieldViolation, fail, invalid } from "../../lib/errors.ts";
import { type Day, startOfDay } from "../../model/day-start.ts";
import { localTime } from "../../model/local-time.ts";
import {
  type AttributeOperator,
  isAttributeOperator,
  operandFault,
  parseDate,
} from "../../model/visitors/attribute-operators.ts";

/** A question about one attribute, fit to be asked. */
export interface AttributeQuestion {
  /** Reserved keys with `$`. */
  readonly key: string;
  readonly operator: AttributeOperator;
  /** One, or for equality several, of which any counts. */
  readonly wanted: readonly string[];
}

const filtersMax = 20;

/** Throws TOO_MANY_FILTERS, or INVALID_ARGUMENT for values that the operator cannot compare with. */
export function readQuestions(filters: readonly AttributeFilter[]): AttributeQuestion[] {
  if (filters.length > filtersMax)
    throw fail(
      "INVALID_ARGUMENT",
      "TOO_MANY_FILTERS",
      `attributeFilters must have at most ${filtersMax} items`,
      {
        fields: [{ field: "attributeFilters", description: `must have at most ${filtersMax} items` }],
      },
    );
  const faults: FieldViolation[] = [];
  const questions = filters.map(({ key, operator, value, values }, index): AttributeQuestion => {
    const name = WireOperator[operator];
    // The rules of the field refuse what the interface does not define.
    if (name === undefined || !isAttributeOperator(name))
      throw new Error(`operator ${operator} is not built`);
    const fault = operandFault(name, value);
    if (fault !== undefined)
      faults.push({ field: `attributeFilters[${index}].value`, description: `must be a ${fault}` });
    return { key, operator: name, wanted: values.length > 0 ? values : [value] };
  });
  if (faults.length > 0) throw invalid(faults);
  return questions;
}

type Sql = RawBuilder<unknown>;

/**
 * The condition on a visitor `v` that `matchesAttribute` of the model is in memory; a test holds the two against each
 * other. Served by visitor_attributes_pkey.
 */
export function answersTo({ key, operator, wanted }: AttributeQuestion, timezone: string): Sql {
  const comparison = comparisons[operator];
  const compare = (value: Sql) => sql`coalesce(${comparison.matches(value, wanted, timezone)}, false)`;
  const column = reservedColumns.get(key);
  if (column !== undefined) {
    const value = sql`v.${sql.id(column)}`;
    return comparison.matchesEmpty === true
      ? sql`(coalesce(${value}, '') = '' or ${compare(value)})`
      : sql`(coalesce(${value}, '') <> '' and ${compare(value)})`;
  }
  const found = (condition: Sql) => sql`exists (select from visitor_attributes a
    where a.workspace_id = v.workspace_id and a.visitor_id = v.id and a.key = ${key} and a.value <> ''
      and ${condition})`;
  const value = sql`a.value`;
  return comparison.matchesEmpty === true
    ? sql`not ${found(sql`not ${compare(value)}`)}`
    : found(compare(value));
}

const reservedColumns: ReadonlyMap<string, string> = new Map([
  ["$email", "email"],
  ["$phone", "phone"],
  ["$firstName", "first_name"],
  ["$lastName", "last_name"],
]);

interface Comparison {
  readonly matchesEmpty?: boolean;
  /** Whether a value that is not empty matches; null where the value cannot be compared. */
  readonly matches: (value: Sql, wanted: readonly string[], timezone: string) => Sql;
}

const emptiness: Comparison = { matchesEmpty: true, matches: () => sql`false` };

const comparisons: { readonly [Operator in AttributeOperator]: Comparison } = {
  STRING_EQUALS: { matches: isAnyOf },
  STRING_NOT_EQUALS: { matchesEmpty: true, matches: (value, wanted) => sql`not ${isAnyOf(value, wanted)}` },
  STRING_CONTAINS: ofText((value, wanted) => sql`strpos(${value}, ${wanted}) > 0`),
  STRING_NOT_CONTAINS: {
    matchesEmpty: true,
    ...ofText((value, wanted) => sql`strpos(${value}, ${wanted}) = 0`),
  },
  STRING_STARTS_WITH: ofText((value, wanted) => sql`starts_with(${value}, ${wanted})`),
  STRING_ENDS_WITH: ofText((value, wanted) => sql`right(${value}, length(${wanted})) = ${wanted}`),
  STRING_IS_EMPTY: emptiness,
  STRING_IS_NOT_EMPTY: { matches: () => sql`true` },
  NUMBER_EQUALS: ofNumbers("="),
  NUMBER_NOT_EQUALS: { matchesEmpty: true, ...ofNumbers("<>") },
  NUMBER_GREATER_THAN: ofNumbers(">"),
  NUMBER_GREATER_THAN_OR_EQUAL: ofNumbers(">="),
  NUMBER_LESS_THAN: ofNumbers("<"),
  NUMBER_LESS_THAN_OR_EQUAL: ofNumbers("<="),
  NUMBER_IS_EMPTY: emptiness,
  NUMBER_IS_NOT_EMPTY: { matches: (value) => sql`${numberOf(value)} is not null` },
  DATE_EQUALS: ofDates(({ text, from, to }, value) =>
    dayOrMoment(value, {
      day: (day) => sql`${day} = ${text}`,
      moment: (moment) => sql`${moment} >= ${from} and ${moment} < ${to}`,
    }),
  ),
  DATE_BEFORE: ofDates(({ text, from, at }, value) =>
    dayOrMoment(value, {
      day: (day) => sql`${day} < ${text}`,
      moment: (moment) => sql`${moment} < ${at ?? from}`,
    }),
  ),
  DATE_AFTER: ofDates(({ text, to, at }, value) =>
    dayOrMoment(value, {
      day: (day) => sql`${day} > ${text}`,
      moment: (moment) => (at === undefined ? sql`${moment} >= ${to}` : sql`${moment} > ${at}`),
    }),
  ),
  DATE_IS_EMPTY: emptiness,
  DATE_IS_NOT_EMPTY: {
    matches: (value) => dayOrMoment(value, { day: () => sql`true`, moment: () => sql`true` }),
  },
  BOOLEAN_IS_TRUE: { matches: (value) => sql`lower(${value}) = 'true'` },
  BOOLEAN_IS_FALSE: { matches: (value) => sql`lower(${value}) = 'false'` },
  BOOLEAN_IS_EMPTY: emptiness,
};

function isAnyOf(value: Sql, wanted: readonly string[]): Sql {
  return sql`lower(${value}) = any(${wanted.map((text) => text.toLowerCase())}::text[])`;
}

function ofText(matches: (value: Sql, wanted: Sql) => Sql): Comparison {
  return {
    matches: (value, [wanted = ""]) => matches(sql`lower(${value})`, sql`${wanted.toLowerCase()}::text`),
  };
}

function ofNumbers(operator: "=" | "<>" | ">" | ">=" | "<" | "<="): Comparison {
  return {
    matches: (value, [wanted]) => sql`${numberOf(value)} ${sql.raw(operator)} ${Number(wanted)}::float8`,
  };
}

/**
 * A number, or null. The inner case keeps texts of other forms, and the outer one numbers that a float has no room for,
 * away from casts that would fail.
 */
function numberOf(value: Sql): Sql {
  return sql`(select case when abs(n) < 3e-324 then 0 when abs(n) < 1.797693134862315e308 then n::float8 end
    from (select case when ${value} ~ '^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,3})?$'
      then ${value}::numeric end) as parsed (n))`;
}

interface WantedDate {
  /** The day in the workspace's time zone, as text: such texts sort as their days do. */
  readonly text: string;
  /** When the day begins and ends there. */
  readonly from: Date;
  readonly to: Date;
  /** The moment, where one is wanted. */
  readonly at: Date | undefined;
}

function ofDates(matches: (wanted: WantedDate, value: Sql) => Sql): Comparison {
  return { matches: (value, [wanted = ""], timezone) => matches(wantedDate(wanted, timezone), value) };
}

function wantedDate(wanted: string, timezone: string): WantedDate {
  const date = parseDate(wanted);
  if (date === undefined) throw new Error("a date that cannot be read was let through");
  const day = date.at === undefined ? date : localTime(date.at, timezone);
  return {
    text: [String(day.year).padStart(4, "0"), twoDigits(day.month), twoDigits(day.day)].join("-"),
    from: startOfDay(day, timezone),
    to: startOfDay(dayAfter(day), timezone),
    at: date.at,
  };
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

function dayAfter({ year, month, day }: Day): Day {
  const next = new Date(new Date(0).setUTCFullYear(year, month - 1, day + 1));
  return { year: next.getUTCFullYear(), month: next.getUTCMonth() + 1, day: next.getUTCDate() };
}

// Days that the calendar has, leap years included, as a pattern: casting any others would fail the statement.
const leapYear = "[0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00";
const dayForm = `(?!0000)([0-9]{4}-(((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01]))|((0[469]|11)-(0[1-9]|[12][0-9]|30))|(02-(0[1-9]|1[0-9]|2[0-8])))|(${leapYear})-02-29)`;
const clockForm = "[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]+)?)?";
const zoneForm = "(Z|[+-](0[0-9]|1[0-4]):?[0-5][0-9])";

interface DateComparison {
  readonly day: (day: Sql) => Sql;
  readonly moment: (moment: Sql) => Sql;
}

/** Null for what is no date. Moments are in UTC unless they say otherwise. */
function dayOrMoment(value: Sql, { day, moment }: DateComparison): Sql {
  // What is no date at first sight is kept from the patterns, which take three times as long.
  return sql`case
    when substr(${value}, 5, 1) <> '-' then null
    when ${value} ~ ${`^${dayForm}$`} then ${day(sql`${value} collate "C"`)}
    when ${value} ~* ${`^${dayForm}${clockForm}${zoneForm}$`} then ${moment(sql`upper(${value})::timestamptz`)}
    when ${value} ~* ${`^${dayForm}${clockForm}$`} then ${moment(sql`(upper(${value}) || 'Z')::timestamptz`)}
  end`;
}
