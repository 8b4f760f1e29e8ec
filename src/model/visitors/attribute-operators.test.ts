import { describe, expect, test } from "vitest";
import { VisitorAttributeFilterOperator as WireOperator } from "../../../gen/signpost/v1/visitor_pb.js";
import type { AttributeType } from "../workflow/attribute-capture.ts";
import {
  type AttributeOperator,
  comparisonFault,
  matchesAttribute,
  operatorNamed,
  parseDate,
} from "./attribute-operators.ts";

const zone = "Europe/Berlin";

type Row = [operator: AttributeOperator, stored: string, wanted: string, matches: boolean];

const rows: Row[] = [
  ["STRING_EQUALS", "Gold", "Gold", true],
  ["STRING_EQUALS", "Gold", "gold", false],
  ["STRING_NOT_EQUALS", "Gold", "GOLD", true],
  ["STRING_NOT_EQUALS", "Gold", "Gold", false],
  ["STRING_CONTAINS", "Ada@Example.com", "@Example", true],
  ["STRING_CONTAINS", "Ada@Example.com", "@example", false],
  ["STRING_NOT_CONTAINS", "Ada", "D", true],
  ["STRING_NOT_CONTAINS", "Ada", "d", false],
  ["STRING_STARTS_WITH", "ÄRGER", "ÄR", true],
  ["STRING_STARTS_WITH", "ÄRGER", "är", false],
  ["STRING_ENDS_WITH", "Ada", "da", true],
  ["STRING_ENDS_WITH", "Ada", "DA", false],
  ["STRING_IS_EMPTY", "", "ignored", true],
  ["STRING_IS_EMPTY", "x", "", false],
  ["STRING_IS_NOT_EMPTY", "x", "ignored", true],
  ["STRING_IS_NOT_EMPTY", "", "", false],
  ["NUMBER_EQUALS", "10.0", "1e1", true],
  ["NUMBER_EQUALS", "10", "11", false],
  ["NUMBER_NOT_EQUALS", "10", "11", true],
  ["NUMBER_NOT_EQUALS", "10", "10.0", false],
  ["NUMBER_GREATER_THAN", "10", "9", true],
  ["NUMBER_GREATER_THAN", "9", "9", false],
  ["NUMBER_LESS_THAN", "-1", "0", true],
  ["NUMBER_LESS_THAN", "0", "0", false],
  ["NUMBER_GREATER_OR_EQUAL", "9", "9", true],
  ["NUMBER_GREATER_OR_EQUAL", "8.9", "9", false],
  ["NUMBER_LESS_OR_EQUAL", "0", "0", true],
  ["NUMBER_LESS_OR_EQUAL", ".1", "0", false],
  ["DATE_EQUALS", "2026-05-01", "2026-05-01", true],
  ["DATE_EQUALS", "2026-05-01", "2026-05-02", false],
  // In UTC it is half past ten in the evening of April 30; in Berlin it is already May.
  ["DATE_EQUALS", "2026-04-30T22:30:00Z", "2026-05-01", true],
  ["DATE_EQUALS", "2026-04-30T22:30:00Z", "2026-04-30", false],
  ["DATE_EQUALS", "2026-05-01T23:59:00+02:00", "2026-05-01T00:00:00+02:00", true],
  ["DATE_BEFORE", "2026-04-30", "2026-05-01", true],
  ["DATE_BEFORE", "2026-05-01", "2026-05-01", false],
  ["DATE_BEFORE", "2026-05-01T10:00:00Z", "2026-05-01T10:00:01Z", true],
  ["DATE_BEFORE", "2026-04-30T22:30:00Z", "2026-05-01", false],
  ["DATE_AFTER", "2027-01-01", "2026-12-31", true],
  ["DATE_AFTER", "2026-12-31", "2026-12-31T12:00:00Z", false],
  ["DATE_BEFORE_OR_EQUAL", "2026-04-30T22:30:00Z", "2026-05-01", true],
  ["DATE_BEFORE_OR_EQUAL", "2026-05-01T10:00:01Z", "2026-05-01T10:00:00Z", false],
  ["DATE_AFTER_OR_EQUAL", "2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z", true],
  ["DATE_AFTER_OR_EQUAL", "2026-04-30T21:59:59Z", "2026-05-01", false],
  ["BOOLEAN_IS_TRUE", "TRUE", "ignored", true],
  ["BOOLEAN_IS_TRUE", "false", "", false],
  ["BOOLEAN_IS_FALSE", "no", "ignored", true],
  ["BOOLEAN_IS_FALSE", "true", "", false],
  ["EXISTS", "", "ignored", true],
  ["NOT_EXISTS", "", "ignored", false],
];

const operators = Object.keys(WireOperator).flatMap((name) => operatorNamed(name) ?? []);

function typeOf(operator: AttributeOperator): AttributeType {
  return operator.startsWith("NUMBER") ? "NUMBER" : operator.startsWith("DATE") ? "DATE" : "STRING";
}

const wantedOf = (operator: string) => (operator.startsWith("DATE") ? "2026-05-01" : "1");

test("every operator of the contract is known, with and without its prefix, and has cases here", () => {
  expect(operators).toHaveLength(23);
  const onlyByPresence: AttributeOperator[] = ["EXISTS", "NOT_EXISTS"];
  for (const operator of operators) {
    expect(operatorNamed(`VISITOR_ATTRIBUTE_FILTER_OPERATOR_${operator}`)).toBe(operator);
    const results = rows.filter(([of]) => of === operator).map(([, , , matches]) => matches);
    expect(results.length, operator).toBeGreaterThan(0);
    if (!onlyByPresence.includes(operator)) expect(new Set(results).size, operator).toBe(2);
  }
  for (const name of ["", "UNSPECIFIED", "string_equals", "toString", "ATTRIBUTE_OPERATOR_EXISTS"])
    expect(operatorNamed(name), name).toBeUndefined();
});

test.each(rows)("%s of %j and %j is %s", (operator, value, wanted, matches) => {
  expect(matchesAttribute(operator, { value, type: typeOf(operator) }, wanted, zone)).toBe(matches);
});

test("an attribute that is not there is an empty text, and no number, no date, not true", () => {
  const matching = operators.filter((operator) =>
    matchesAttribute(operator, undefined, wantedOf(operator), zone),
  );
  expect(matching).toEqual([
    "STRING_NOT_EQUALS",
    "STRING_NOT_CONTAINS",
    "STRING_IS_EMPTY",
    "BOOLEAN_IS_FALSE",
    "NOT_EXISTS",
  ]);
  expect(matchesAttribute("STRING_EQUALS", undefined, "", zone)).toBe(true);
  expect(matchesAttribute("STRING_NOT_EQUALS", undefined, "", zone)).toBe(false);
});

test("numbers and dates match only what was captured as one, and reads as one", () => {
  const typed = operators.filter((operator) => /^(?:NUMBER|DATE)_/.test(operator));
  expect(typed).toHaveLength(11);
  for (const operator of typed)
    for (const type of ["STRING", "NUMBER", "BOOLEAN", "DATE", "ENUM"] as const) {
      const isOwn = operator.startsWith(type);
      const values = isOwn ? ["neither", ""] : ["0", "1", "2", "2026-04-30", "2026-05-01", "2026-05-02"];
      for (const value of values)
        expect(matchesAttribute(operator, { value, type }, wantedOf(operator), zone), operator).toBe(false);
    }
});

describe("what cannot be compared", () => {
  test.each<[key: string, operator: AttributeOperator | undefined, wanted: string, part: string | undefined]>(
    [
      ["k", "NUMBER_EQUALS", "ten", "wanted"],
      ["k", "NUMBER_LESS_THAN", "", "wanted"],
      ["k", "NUMBER_EQUALS", "1,5", "wanted"],
      ["k", "NUMBER_EQUALS", "1e999", "wanted"],
      ["k", "NUMBER_EQUALS", " -1.5 ", undefined],
      ["k", "DATE_AFTER", "2026-02-29", "wanted"],
      ["k", "DATE_AFTER", "2024-02-29", undefined],
      ["k", "DATE_EQUALS", "01.05.2026", "wanted"],
      ["k", "DATE_EQUALS", "0000-01-01", "wanted"],
      ["k", "STRING_EQUALS", "", undefined],
      ["k", "BOOLEAN_IS_TRUE", "?", undefined],
      ["k", "EXISTS", "?", undefined],
      ["k", undefined, "", "operator"],
      ["$email", "STRING_ENDS_WITH", "x", undefined],
      ["$email", "NOT_EXISTS", "", undefined],
      ["$phone", "NUMBER_EQUALS", "1", "operator"],
      ["$firstName", "DATE_BEFORE", "2026-01-01", "operator"],
      ["$lastName", "BOOLEAN_IS_FALSE", "", "operator"],
    ],
  )("of %s, %s with %j: %s", (key, operator, wanted, part) => {
    expect(comparisonFault({ key, operator, wanted })?.part).toBe(part);
  });
});

test("dates are days, or moments in UTC unless they say otherwise", () => {
  expect(parseDate("2026-05-01")).toMatchObject({ year: 2026, month: 5, day: 1, at: undefined });
  const at = new Date("2026-05-01T10:30:00Z");
  for (const text of ["2026-05-01T10:30Z", "2026-05-01 10:30:00.000", "2026-05-01t12:30:00+02:00"])
    expect(parseDate(text)?.at, text).toEqual(at);
  for (const text of ["2026-05-01T25:00Z", "2026-13-01", "2026-04-31", "20260501", "2026-05-01T10", ""])
    expect(parseDate(text), text).toBeUndefined();
});
