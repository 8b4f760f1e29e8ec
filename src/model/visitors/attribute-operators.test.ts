import { describe, expect, test } from "vitest";
import { AttributeOperator as WireOperator } from "../../../gen/signpost/v1/visitor_pb.js";
import {
  type AttributeOperator,
  asksForEmptiness,
  isAttributeOperator,
  matchesAttribute,
  operandFault,
  parseDate,
} from "./attribute-operators.ts";

const zone = "Europe/Berlin";

type Row = [operator: AttributeOperator, stored: string, wanted: string, matches: boolean];

const rows: Row[] = [
  ["STRING_EQUALS", "Gold", "gOLD", true],
  ["STRING_EQUALS", "Gold", "Gol", false],
  ["STRING_NOT_EQUALS", "Gold", "silver", true],
  ["STRING_NOT_EQUALS", "Gold", "GOLD", false],
  ["STRING_CONTAINS", "Ada@Example.com", "@example", true],
  ["STRING_CONTAINS", "Ada", "b", false],
  ["STRING_NOT_CONTAINS", "Ada", "b", true],
  ["STRING_NOT_CONTAINS", "Ada", "D", false],
  ["STRING_STARTS_WITH", "ÄRGER", "är", true],
  ["STRING_STARTS_WITH", "Ada", "da", false],
  ["STRING_ENDS_WITH", "Ada", "DA", true],
  ["STRING_ENDS_WITH", "Ada", "ad", false],
  ["STRING_IS_EMPTY", "x", "", false],
  ["STRING_IS_EMPTY", "", "", true],
  ["STRING_IS_NOT_EMPTY", "x", "", true],
  ["STRING_IS_NOT_EMPTY", "", "", false],
  ["NUMBER_EQUALS", "10.0", "1e1", true],
  ["NUMBER_EQUALS", "10", "11", false],
  ["NUMBER_NOT_EQUALS", "10", "11", true],
  ["NUMBER_NOT_EQUALS", "10", "10.0", false],
  ["NUMBER_GREATER_THAN", "10", "9", true],
  ["NUMBER_GREATER_THAN", "9", "9", false],
  ["NUMBER_GREATER_THAN_OR_EQUAL", "9", "9", true],
  ["NUMBER_GREATER_THAN_OR_EQUAL", "8.9", "9", false],
  ["NUMBER_LESS_THAN", "-1", "0", true],
  ["NUMBER_LESS_THAN", "0", "0", false],
  ["NUMBER_LESS_THAN_OR_EQUAL", "0", "0", true],
  ["NUMBER_LESS_THAN_OR_EQUAL", ".1", "0", false],
  ["NUMBER_IS_EMPTY", "1", "", false],
  ["NUMBER_IS_EMPTY", "", "", true],
  ["NUMBER_IS_NOT_EMPTY", "1", "", true],
  ["NUMBER_IS_NOT_EMPTY", "one", "", false],
  ["DATE_EQUALS", "2026-05-01", "2026-05-01", true],
  ["DATE_EQUALS", "2026-05-01", "2026-05-02", false],
  // Half past ten in the evening of April in UTC is already May in Berlin.
  ["DATE_EQUALS", "2026-04-30T22:30:00Z", "2026-05-01", true],
  ["DATE_EQUALS", "2026-04-30T22:30:00Z", "2026-04-30", false],
  ["DATE_EQUALS", "2026-05-01T23:59:00+02:00", "2026-05-01T00:00:00+02:00", true],
  ["DATE_BEFORE", "2026-04-30", "2026-05-01", true],
  ["DATE_BEFORE", "2026-05-01", "2026-05-01", false],
  ["DATE_BEFORE", "2026-05-01T10:00:00Z", "2026-05-01T10:00:01Z", true],
  ["DATE_BEFORE", "2026-04-30T22:30:00Z", "2026-05-01", false],
  ["DATE_AFTER", "2027-01-01", "2026-12-31", true],
  ["DATE_AFTER", "2026-12-31", "2026-12-31T12:00:00Z", false],
  ["DATE_IS_EMPTY", "2026-05-01", "", false],
  ["DATE_IS_EMPTY", "", "", true],
  ["DATE_IS_NOT_EMPTY", "2026-05-01", "", true],
  ["DATE_IS_NOT_EMPTY", "tomorrow", "", false],
  ["BOOLEAN_IS_TRUE", "TRUE", "", true],
  ["BOOLEAN_IS_TRUE", "false", "", false],
  ["BOOLEAN_IS_FALSE", "false", "", true],
  ["BOOLEAN_IS_FALSE", "no", "", false],
  ["BOOLEAN_IS_EMPTY", "true", "", false],
  ["BOOLEAN_IS_EMPTY", "", "", true],
];

const operators = Object.keys(WireOperator).filter(isAttributeOperator);

test("every operator of the contract is known, and has a case here that matches and one that does not", () => {
  expect(operators).toHaveLength(24);
  for (const operator of operators) {
    const results = rows.filter(([of]) => of === operator).map(([, , , matches]) => matches);
    expect(results, operator).toContain(false);
    expect(results, operator).toContain(true);
  }
});

test.each(rows)("%s of %j and %j is %s", (operator, stored, wanted, matches) => {
  expect(matchesAttribute(operator, stored, wanted, zone)).toBe(matches);
});

test("a missing or empty value matches the IS_EMPTY and NOT_ operators only", () => {
  const wantedOf = (operator: string) => (operator.startsWith("DATE") ? "2026-05-01" : "1");
  for (const stored of [undefined, ""]) {
    const matching = operators.filter((operator) =>
      matchesAttribute(operator, stored, wantedOf(operator), zone),
    );
    expect(matching).toEqual([
      "STRING_NOT_EQUALS",
      "STRING_NOT_CONTAINS",
      "STRING_IS_EMPTY",
      "NUMBER_NOT_EQUALS",
      "NUMBER_IS_EMPTY",
      "DATE_IS_EMPTY",
      "BOOLEAN_IS_EMPTY",
    ]);
  }
});

test("a value that does not parse matches no operator of the type", () => {
  for (const operator of operators.filter((name) => !name.startsWith("STRING"))) {
    const wanted = operator.startsWith("DATE") ? "2026-05-01" : "1";
    expect(matchesAttribute(operator, "neither", wanted, zone), operator).toBe(false);
  }
});

test("four operators ask for emptiness, one of each type", () => {
  const asking = operators.filter(asksForEmptiness);
  expect(asking).toEqual(["STRING_IS_EMPTY", "NUMBER_IS_EMPTY", "DATE_IS_EMPTY", "BOOLEAN_IS_EMPTY"]);
});

describe("what cannot be compared with", () => {
  test.each<[AttributeOperator, string, string | undefined]>([
    ["NUMBER_EQUALS", "ten", "number"],
    ["NUMBER_LESS_THAN", "", "number"],
    ["NUMBER_EQUALS", "1,5", "number"],
    ["NUMBER_EQUALS", "1e999", "number"],
    ["NUMBER_EQUALS", " -1.5 ", undefined],
    ["NUMBER_IS_EMPTY", "", undefined],
    ["DATE_AFTER", "2026-02-29", "date"],
    ["DATE_AFTER", "2024-02-29", undefined],
    ["DATE_EQUALS", "01.05.2026", "date"],
    ["DATE_IS_NOT_EMPTY", "", undefined],
    ["STRING_EQUALS", "", undefined],
    ["BOOLEAN_IS_TRUE", "?", undefined],
  ])("%s with %j has the fault %s, and matches nothing then", (operator, wanted, fault) => {
    expect(operandFault(operator, wanted)).toBe(fault);
    if (fault === undefined) return;
    for (const stored of ["1", "2026-05-01"])
      expect(matchesAttribute(operator, stored, wanted, zone)).toBe(false);
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
