import { type RawBuilder, sql } from "kysely";
import { numberOf, trimmed } from "../../db/number-of-text.ts";
import { type Day, startOfDay } from "../../model/day-start.ts";
import { localTime } from "../../model/local-time.ts";
import {
  type AttributeOperator,
  dateLengthMax,
  parseDate,
  parseNumber,
} from "../../model/visitors/attribute-operators.ts";
import type { AttributeQuestion } from "./rules.ts";

type Sql = RawBuilder<unknown>;

/**
 * The SQL condition on a visitor `v` that says the same as `matchesAttribute` in memory, which a test proves. Served by
 * visitor_attributes_pkey.
 */
export function answersTo({ key, operator, wanted }: AttributeQuestion, timezone: string): Sql {
  const { ofAbsent, matches, ofPresent } = comparisons[operator];
  const column = reservedColumns.get(key);
  if (column !== undefined) {
    const value = sql`v.${sql.id(column)}`;
    const isMatch = sql`(${value} is not null and ${matches(value, wanted, timezone)})`;
    return ofAbsent(wanted) ? sql`(${value} is null or ${isMatch})` : isMatch;
  }
  const found = (condition: Sql) => sql`exists (select from visitor_attributes a
    where a.workspace_id = v.workspace_id and a.visitor_id = v.id and a.key = ${key} and ${condition})`;
  const value = sql`a.value`;
  const isMatch = sql`coalesce(${matches(value, wanted, timezone)}, false)`;
  if (ofAbsent(wanted)) return sql`not ${found(sql`not ${isMatch}`)}`;
  return found(ofPresent === undefined ? isMatch : sql`a.type = ${ofPresent} and ${isMatch}`);
}

const reservedColumns: ReadonlyMap<string, string> = new Map([
  ["$email", "email"],
  ["$phone", "phone"],
  ["$firstName", "first_name"],
  ["$lastName", "last_name"],
]);

interface Comparison {
  /** Whether a missing attribute matches. */
  readonly ofAbsent: (wanted: string) => boolean;
  /** The type that an attribute must have been captured as. Undefined for any type. */
  readonly ofPresent?: "NUMBER" | "DATE";
  /** Whether the value of an attribute matches. Null when the value cannot be compared. */
  readonly matches: (value: Sql, wanted: string, timezone: string) => Sql;
}

const never = () => false;
const always = () => true;

const comparisons: { readonly [Operator in AttributeOperator]: Comparison } = {
  STRING_EQUALS: ofText(
    (wanted) => wanted === "",
    (value, wanted) => sql`${value} = ${wanted}`,
  ),
  STRING_NOT_EQUALS: ofText(
    (wanted) => wanted !== "",
    (value, wanted) => sql`${value} <> ${wanted}`,
  ),
  STRING_CONTAINS: ofText(
    (wanted) => wanted === "",
    (value, wanted) => sql`strpos(${value}, ${wanted}) > 0`,
  ),
  STRING_NOT_CONTAINS: ofText(
    (wanted) => wanted !== "",
    (value, wanted) => sql`strpos(${value}, ${wanted}) = 0`,
  ),
  STRING_STARTS_WITH: ofText(
    (wanted) => wanted === "",
    (value, wanted) => sql`starts_with(${value}, ${wanted})`,
  ),
  STRING_ENDS_WITH: ofText(
    (wanted) => wanted === "",
    (value, wanted) => sql`right(${value}, length(${wanted})) = ${wanted}`,
  ),
  STRING_IS_EMPTY: { ofAbsent: always, matches: (value) => sql`${value} = ''` },
  STRING_IS_NOT_EMPTY: { ofAbsent: never, matches: (value) => sql`${value} <> ''` },
  NUMBER_EQUALS: ofNumbers("="),
  NUMBER_NOT_EQUALS: ofNumbers("<>"),
  NUMBER_GREATER_THAN: ofNumbers(">"),
  NUMBER_LESS_THAN: ofNumbers("<"),
  NUMBER_GREATER_OR_EQUAL: ofNumbers(">="),
  NUMBER_LESS_OR_EQUAL: ofNumbers("<="),
  DATE_EQUALS: ofDates(({ text, from, to }) => ({
    day: (day) => sql`${day} = ${text}`,
    moment: (moment) => sql`${moment} >= ${from} and ${moment} < ${to}`,
  })),
  DATE_BEFORE: ofDates(({ text, from, at }) => ({
    day: (day) => sql`${day} < ${text}`,
    moment: (moment) => sql`${moment} < ${at ?? from}`,
  })),
  DATE_AFTER: ofDates(({ text, to, at }) => ({
    day: (day) => sql`${day} > ${text}`,
    moment: (moment) => (at === undefined ? sql`${moment} >= ${to}` : sql`${moment} > ${at}`),
  })),
  DATE_BEFORE_OR_EQUAL: ofDates(({ text, to, at }) => ({
    day: (day) => sql`${day} <= ${text}`,
    moment: (moment) => (at === undefined ? sql`${moment} < ${to}` : sql`${moment} <= ${at}`),
  })),
  DATE_AFTER_OR_EQUAL: ofDates(({ text, from, at }) => ({
    day: (day) => sql`${day} >= ${text}`,
    moment: (moment) => sql`${moment} >= ${at ?? from}`,
  })),
  BOOLEAN_IS_TRUE: { ofAbsent: never, matches: (value) => sql`lower(${trimmed(value)}) = 'true'` },
  BOOLEAN_IS_FALSE: { ofAbsent: always, matches: (value) => sql`lower(${trimmed(value)}) <> 'true'` },
  EXISTS: { ofAbsent: never, matches: () => sql`true` },
  NOT_EXISTS: { ofAbsent: always, matches: () => sql`false` },
};

function ofText(ofAbsent: Comparison["ofAbsent"], matches: (value: Sql, wanted: Sql) => Sql): Comparison {
  return { ofAbsent, matches: (value, wanted) => matches(value, sql`${wanted}::text`) };
}

function ofNumbers(operator: "=" | "<>" | ">" | ">=" | "<" | "<="): Comparison {
  return {
    ofAbsent: never,
    ofPresent: "NUMBER",
    matches: (value, wanted) =>
      sql`${numberOf(trimmed(value))} ${sql.raw(operator)} ${parseNumber(wanted)}::float8`,
  };
}

interface WantedDate {
  /** The day in the workspace's time zone, as text. Such texts sort as their days do. */
  readonly text: string;
  /** The first moment of the day in the workspace's time zone. */
  readonly from: Date;
  readonly to: Date;
  /** The moment, when the wanted date has one. */
  readonly at: Date | undefined;
}

function ofDates(comparisonWith: (wanted: WantedDate) => DateComparison): Comparison {
  return {
    ofAbsent: never,
    ofPresent: "DATE",
    matches: (value, wanted, timezone) =>
      dayOrMoment(trimmed(value), comparisonWith(wantedDate(wanted, timezone))),
  };
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

// A pattern for the days that the calendar has, leap years included. Casting any other day would fail the statement.
const leapYear = "[0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00";
const dayForm = `(?!0000)([0-9]{4}-(((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01]))|((0[469]|11)-(0[1-9]|[12][0-9]|30))|(02-(0[1-9]|1[0-9]|2[0-8])))|(${leapYear})-02-29)`;
const clockForm = "[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]+)?)?";
const zoneForm = "(Z|[+-](0[0-9]|1[0-4]):?[0-5][0-9])";

interface DateComparison {
  readonly day: (day: Sql) => Sql;
  readonly moment: (moment: Sql) => Sql;
}

/**
 * The comparison of a day or a moment, null for any other text. Moments are in UTC unless they say otherwise, and are
 * cut to milliseconds, as in memory.
 */
function dayOrMoment(value: Sql, { day, moment }: DateComparison): Sql {
  const inMilliseconds = sql`regexp_replace(upper(${value}), '(\\.[0-9]{3})[0-9]+', '\\1')`;
  return sql`case
    when length(${value}) > ${dateLengthMax} then null
    when ${value} ~ ${`^${dayForm}$`} then ${day(sql`${value} collate "C"`)}
    when ${value} ~* ${`^${dayForm}${clockForm}${zoneForm}$`} then ${moment(sql`(${inMilliseconds})::timestamptz`)}
    when ${value} ~* ${`^${dayForm}${clockForm}$`} then ${moment(sql`(${inMilliseconds} || 'Z')::timestamptz`)}
  end`;
}
