import { fromJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { EventTraceDataSchema } from "../../gen/signpost/v1/event_trace_pb.js";
import {
  knownAttributes,
  planOf,
  redirectStep,
  type SeenBy,
  storedStep,
  visitOf,
} from "../../test/support/workflow.ts";
import type { StepAction } from "../model/steps/kinds.ts";
import { branchesOf, type StoredStep } from "../model/workflow/workflow.ts";
import { decide } from "./decide.ts";

const saturday = "2026-11-21T14:05:00Z";

/** Where a condition sends a visit, and what its trace says. */
function branchOf(
  action: StepAction,
  payload: object,
  { at = saturday, timezone = "UTC", ...seen }: SeenBy & { at?: string; timezone?: string } = {},
) {
  const condition = storedStep("condition", action, payload);
  const entry = storedStep("entry", "LINK_VISIT");
  const plan = planOf([entry, condition, ...ends(condition)], wires(condition), { timezone });
  const { taken, end } = decide(plan, visitOf(seen), new Date(at));
  const { branchId, data } = taken[1] ?? {};
  expect(end).toMatchObject({ kind: "redirect", step: { id: `to ${branchId}` } });
  // The trace must be one of the contract, to its last field.
  expect(() => fromJson(EventTraceDataSchema, JSON.parse(JSON.stringify(data)))).not.toThrow();
  return { branchId, data };
}

function ends(condition: StoredStep): StoredStep[] {
  return branchesOf(condition).map(({ id }) => redirectStep(`to ${id}`));
}

function wires(condition: StoredStep): Record<string, string> {
  const branches = branchesOf(condition).map(({ id }) => [`condition.${id}`, `to ${id}`]);
  return { "entry.next": "condition", ...Object.fromEntries(branches) };
}

describe("visit type: the branch is the option's value", () => {
  const payload = { options: [{ value: "VISIT_TYPE_FIRST" }, { value: "VISIT_TYPE_RETURNING" }] };

  test.each(["FIRST", "RETURNING"] as const)("%s", (visitType) => {
    const { branchId, data } = branchOf("VISIT_TYPE_CONDITION", payload, { visitType });
    expect(branchId).toBe(`VISIT_TYPE_${visitType}`);
    expect(data).toEqual({
      visitTypeCondition: {
        visitType,
        options: [
          { value: "FIRST", hasRoute: true },
          { value: "RETURNING", hasRoute: true },
        ],
        hasElse: true,
      },
    });
  });

  test("else, for the one that is no option", () => {
    const first = { options: [{ value: "VISIT_TYPE_FIRST" }] };
    expect(branchOf("VISIT_TYPE_CONDITION", first, { visitType: "RETURNING" }).branchId).toBe("else");
  });
});

describe("country: ISO 3166-1 alpha-2", () => {
  const payload = { countries: [{ countryCode: "DE" }, { countryCode: "FR" }] };

  test.each([
    ["DE", "DE"],
    ["FR", "FR"],
    ["US", "else"],
    ["", "else"],
  ])("of %j takes %s", (country, branchId) => {
    expect(branchOf("COUNTRY_CONDITION", payload, { country }).branchId).toBe(branchId);
  });

  test("traces name the countries", () => {
    expect(branchOf("COUNTRY_CONDITION", payload).data).toEqual({
      countryCondition: {
        countries: [
          { countryCode: "DE", hasRoute: true },
          { countryCode: "FR", hasRoute: true },
        ],
        hasElse: true,
      },
    });
  });
});

describe("day of week: 0 is Sunday, several days for each option", () => {
  const payload = {
    options: [
      { id: "weekend", name: "Weekend", daysOfWeek: [0, 6] },
      { id: "friday", name: "Friday", daysOfWeek: [5] },
      { id: "none", name: "None" },
    ],
  };

  test.each([
    ["Saturday", saturday, "UTC", "weekend"],
    ["Sunday", "2026-11-22T00:00:00Z", "UTC", "weekend"],
    ["Friday", "2026-11-20T23:59:00Z", "UTC", "friday"],
    ["Friday there, Saturday here", "2026-11-21T03:00:00Z", "America/New_York", "friday"],
    ["Monday", "2026-11-23T12:00:00Z", "UTC", "else"],
  ])("%s", (_, at, timezone, branchId) => {
    expect(branchOf("DAY_OF_WEEK_CONDITION", payload, { at, timezone }).branchId).toBe(branchId);
  });

  test("traces have names of days where the step has numbers", () => {
    expect(branchOf("DAY_OF_WEEK_CONDITION", payload).data).toEqual({
      dayOfWeekCondition: {
        options: [
          { id: "weekend", name: "Weekend", daysOfWeek: ["SUNDAY", "SATURDAY"], hasRoute: true },
          { id: "friday", name: "Friday", daysOfWeek: ["FRIDAY"], hasRoute: true },
          { id: "none", name: "None", daysOfWeek: [], hasRoute: true },
        ],
        hasElse: true,
      },
    });
  });
});

describe("time of day: HH:MM, start inclusive, end exclusive, over midnight when the start is later", () => {
  const payload = {
    ranges: [
      { id: "lunch", name: "Lunch", startTime: "12:00", endTime: "14:00" },
      { id: "night", name: "Night", startTime: "22:00", endTime: "06:00" },
      { id: "empty", name: "Empty", startTime: "18:00", endTime: "18:00" },
    ],
  };

  test.each([
    ["11:59", "else"],
    ["12:00", "lunch"],
    ["13:59", "lunch"],
    ["14:00", "else"],
    ["18:00", "else"],
    ["21:59", "else"],
    ["22:00", "night"],
    ["23:59", "night"],
    ["00:00", "night"],
    ["05:59", "night"],
    ["06:00", "else"],
  ])("%s takes %s", (time, branchId) => {
    expect(branchOf("TIME_OF_DAY_CONDITION", payload, { at: `2026-11-21T${time}:59Z` }).branchId).toBe(
      branchId,
    );
  });

  test.each([
    ["by the clock of the workspace", "2026-11-21T11:00:00Z", "Europe/Berlin", "lunch"],
    ["in summer an hour earlier", "2026-07-21T10:00:00Z", "Europe/Berlin", "lunch"],
    ["in UTC for an unknown zone", "2026-11-21T12:00:00Z", "Middle/Earth", "lunch"],
  ])("%s", (_, at, timezone, branchId) => {
    expect(branchOf("TIME_OF_DAY_CONDITION", payload, { at, timezone }).branchId).toBe(branchId);
  });

  test("an hour that daylight saving time takes away is nobody's, one that comes twice is taken twice", () => {
    const hour = { ranges: [{ id: "hour", name: "Hour", startTime: "02:00", endTime: "03:00" }] };
    const taken = (at: string) =>
      branchOf("TIME_OF_DAY_CONDITION", hour, { at, timezone: "Europe/Berlin" }).branchId;
    const spring = ["2026-03-29T00:59:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"];
    expect(spring.map(taken)).toEqual(["else", "else", "else"]);
    const autumn = ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"];
    expect(autumn.map(taken)).toEqual(["hour", "hour", "else"]);
  });

  test("traces have the ranges", () => {
    expect(branchOf("TIME_OF_DAY_CONDITION", payload).data).toMatchObject({
      timeOfDayCondition: {
        ranges: [
          { id: "lunch", name: "Lunch", startTime: "12:00", endTime: "14:00", hasRoute: true },
          {},
          {},
        ],
      },
    });
  });
});

describe("day of month: 1–31, -1 is the last day", () => {
  const payload = {
    options: [
      { id: "first", name: "First", dayOfMonth: 1 },
      { id: "last", name: "Last", dayOfMonth: -1 },
      { id: "31", name: "Thirty-first", dayOfMonth: 31 },
    ],
  };

  test.each([
    ["2026-11-01T00:00:00Z", "UTC", "first"],
    ["2026-11-30T12:00:00Z", "UTC", "last"],
    ["2026-02-28T12:00:00Z", "UTC", "last"],
    ["2028-02-28T12:00:00Z", "UTC", "else"],
    ["2028-02-29T12:00:00Z", "UTC", "last"],
    ["2026-12-31T12:00:00Z", "UTC", "last"],
    ["2026-12-31T23:30:00Z", "Asia/Tokyo", "first"],
    ["2026-11-15T12:00:00Z", "UTC", "else"],
  ])("%s in %s takes %s", (at, timezone, branchId) => {
    const { branchId: taken, data } = branchOf("DAY_OF_MONTH_CONDITION", payload, { at, timezone });
    expect(taken).toBe(branchId);
    expect(data).toMatchObject({
      dayOfMonthCondition: {
        options: [{ id: "first", name: "First", dayOfMonth: 1, hasRoute: true }, {}, {}],
      },
    });
  });
});

describe("specific date: of one year, or of every year that has it", () => {
  const payload = {
    options: [
      { id: "once", name: "Once", year: 2026, month: 12, day: 24 },
      { id: "yearly", name: "Yearly", month: 12, day: 24 },
      { id: "leap", name: "Leap", month: 2, day: 29 },
    ],
  };

  test.each([
    ["2026-12-24T00:00:00Z", "UTC", "once"],
    ["2027-12-24T00:00:00Z", "UTC", "yearly"],
    ["2026-12-24T23:30:00Z", "Asia/Tokyo", "else"],
    ["2028-02-29T00:00:00Z", "UTC", "leap"],
    ["2027-02-28T12:00:00Z", "UTC", "else"],
    ["2027-03-01T12:00:00Z", "UTC", "else"],
  ])("%s in %s takes %s", (at, timezone, branchId) => {
    const { branchId: taken, data } = branchOf("SPECIFIC_DATE_CONDITION", payload, { at, timezone });
    expect(taken).toBe(branchId);
    expect(data).toMatchObject({
      specificDateCondition: {
        options: [{ id: "once", name: "Once", year: 2026, month: 12, day: 24, hasRoute: true }, {}, {}],
      },
    });
    expect(JSON.stringify(data)).not.toContain("null");
  });
});

describe("device", () => {
  const optionsOf = (prefix: string, ...values: string[]) => ({
    options: values.map((value) => ({ id: value, name: value, value: `${prefix}_CONDITION_VALUE_${value}` })),
  });

  test.each<[StepAction, string, SeenBy["device"] & object, string[], string]>([
    ["DEVICE_TYPE_CONDITION", "DEVICE_TYPE", { deviceType: "MOBILE" }, ["DESKTOP", "MOBILE"], "MOBILE"],
    ["DEVICE_TYPE_CONDITION", "DEVICE_TYPE", { deviceType: "NATIVE" }, ["MOBILE", "UNKNOWN"], "UNKNOWN"],
    ["DEVICE_TYPE_CONDITION", "DEVICE_TYPE", { deviceType: "TABLET" }, ["MOBILE"], "else"],
    ["DEVICE_TYPE_CONDITION", "DEVICE_TYPE", { deviceType: "UNKNOWN" }, ["UNSPECIFIED"], "else"],
    ["DEVICE_PLATFORM_CONDITION", "DEVICE_PLATFORM", { platformName: "iOS" }, ["ANDROID", "IOS"], "IOS"],
    ["DEVICE_PLATFORM_CONDITION", "DEVICE_PLATFORM", { platformName: "ChromeOS" }, ["CHROMEOS"], "CHROMEOS"],
    ["DEVICE_PLATFORM_CONDITION", "DEVICE_PLATFORM", { platformName: "" }, ["UNSPECIFIED"], "else"],
    [
      "DEVICE_BROWSER_CONDITION",
      "DEVICE_BROWSER",
      { browserName: "Samsung Browser" },
      ["CHROME", "SAMSUNG_BROWSER"],
      "SAMSUNG_BROWSER",
    ],
    [
      "DEVICE_BROWSER_CONDITION",
      "DEVICE_BROWSER",
      { browserName: "Instagram" },
      ["CHROME", "SAFARI"],
      "else",
    ],
    ["DEVICE_BRAND_CONDITION", "DEVICE_BRAND", { deviceBrand: "OnePlus" }, ["APPLE", "ONEPLUS"], "ONEPLUS"],
    ["DEVICE_ACTOR_CONDITION", "DEVICE_ACTOR", { deviceActor: "AGENT" }, ["HUMAN", "AGENT"], "AGENT"],
    ["DEVICE_ACTOR_CONDITION", "DEVICE_ACTOR", { deviceActor: "UNKNOWN" }, ["HUMAN", "UNKNOWN"], "UNKNOWN"],
  ])("%s: %s of %j among %j takes %s", (action, prefix, device, values, branchId) => {
    expect(branchOf(action, optionsOf(prefix, ...values), { device }).branchId).toBe(branchId);
  });

  test.each<[StepAction, string, string]>([
    ["DEVICE_TYPE_CONDITION", "deviceType", "MOBILE"],
    ["DEVICE_PLATFORM_CONDITION", "platformName", ""],
    ["DEVICE_BROWSER_CONDITION", "browserName", ""],
    ["DEVICE_BRAND_CONDITION", "deviceBrand", ""],
    ["DEVICE_ACTOR_CONDITION", "deviceActor", "HUMAN"],
  ])("at level NONE the trace of %s has as %s %j", (action, key, kept) => {
    const device = {
      deviceType: "MOBILE",
      platformName: "iOS",
      browserName: "Safari",
      deviceBrand: "Apple",
    } as const;
    const { data } = branchOf(action, { options: [] }, { device, dataCollection: "NONE" });
    expect(Object.values(data ?? {})).toMatchObject([{ [key]: kept }]);
  });

  test("traces give what was found and what was asked for", () => {
    const { data } = branchOf("DEVICE_PLATFORM_CONDITION", optionsOf("DEVICE_PLATFORM", "MACOS"), {
      device: { platformName: "macOS" },
    });
    expect(data).toEqual({
      devicePlatformCondition: {
        platformName: "macOS",
        options: [{ id: "MACOS", name: "MACOS", platformName: "MACOS", hasRoute: true }],
        hasElse: true,
      },
    });
  });
});

describe("visitor data: operators as attribute filters", () => {
  const option = (id: string, attributeKey: string, operator: string, comparisonValue = "") => {
    return { id, attributeKey, operator: `VISITOR_ATTRIBUTE_FILTER_OPERATOR_${operator}`, comparisonValue };
  };
  const taken = (attributes: Record<string, string> | undefined, ...options: object[]) =>
    branchOf(
      "VISITOR_DATA_CONDITION",
      { options },
      attributes === undefined ? {} : { attributes: knownAttributes(attributes) },
    );

  test("the first that matches wins", () => {
    const vip = option("vip", "tier", "STRING_EQUALS", "gold");
    const known = option("known", "$email", "STRING_IS_NOT_EMPTY");
    expect(taken({ tier: "gold", $email: "a@b.example" }, vip, known).branchId).toBe("vip");
    expect(taken({ tier: "tin", $email: "a@b.example" }, vip, known).branchId).toBe("known");
    expect(taken({}, vip, known).branchId).toBe("else");
  });

  test.each<[string, Record<string, string> | undefined]>([
    ["no visitor", undefined],
    ["no such attribute", { other: "1" }],
  ])("%s: an empty text, and nothing else", (_, attributes) => {
    const isTaken = (operator: string) =>
      taken(attributes, option("o", "tier", operator, operator.startsWith("DATE") ? "2026-05-01" : "1"))
        .branchId === "o";
    for (const operator of ["STRING_NOT_EQUALS", "STRING_IS_EMPTY", "BOOLEAN_IS_FALSE", "NOT_EXISTS"])
      expect(isTaken(operator), operator).toBe(true);
    for (const operator of ["STRING_EQUALS", "NUMBER_NOT_EQUALS", "DATE_BEFORE", "BOOLEAN_IS_TRUE", "EXISTS"])
      expect(isTaken(operator), operator).toBe(false);
  });

  test("the operator's prefix may be left out", () => {
    const bare = { id: "o", attributeKey: "tier", operator: "STRING_EQUALS", comparisonValue: "gold" };
    expect(taken({ tier: "gold" }, bare).branchId).toBe("o");
  });

  test("days are those of the workspace", () => {
    const payload = { options: [option("o", "since", "DATE_EQUALS", "2026-05-01")] };
    const attributes = knownAttributes({ since: "2026-04-30T22:30:00Z" }, { since: "DATE" });
    const at = (timezone: string) =>
      branchOf("VISITOR_DATA_CONDITION", payload, { attributes, timezone }).branchId;
    expect([at("Europe/Berlin"), at("UTC")]).toEqual(["o", "else"]);
  });

  test("an option without an operator matches nobody", () => {
    expect(taken({ tier: "1" }, option("o", "tier", "UNSPECIFIED", "1")).branchId).toBe("else");
  });

  test("traces give what was seen of every attribute", () => {
    const options = [option("a", "tier", "STRING_EQUALS", "gold"), option("b", "age", "NOT_EXISTS")];
    expect(taken({ tier: "tin" }, ...options).data).toEqual({
      visitorDataCondition: {
        options: [
          {
            attributeKey: "tier",
            operator: "STRING_EQUALS",
            comparisonValue: "gold",
            attributeFound: true,
            observedValue: "tin",
            matched: false,
            hasRoute: true,
          },
          {
            attributeKey: "age",
            operator: "NOT_EXISTS",
            comparisonValue: "",
            attributeFound: false,
            observedValue: "",
            matched: true,
            hasRoute: true,
          },
        ],
        hasElse: true,
      },
    });
  });
});
