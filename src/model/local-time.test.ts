import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { daysInMonth, localTime } from "./local-time.ts";

describe("daylight saving time is applied", () => {
  test.each([
    ["the minute before clocks go forward", "2026-03-29T00:59:00Z", "Europe/Berlin", [2026, 3, 29, 0, 119]],
    ["the minute after", "2026-03-29T01:00:00Z", "Europe/Berlin", [2026, 3, 29, 0, 180]],
    [
      "an hour that comes twice, the first time",
      "2026-10-25T00:30:00Z",
      "Europe/Berlin",
      [2026, 10, 25, 0, 150],
    ],
    ["and the second time", "2026-10-25T01:30:00Z", "Europe/Berlin", [2026, 10, 25, 0, 150]],
    ["a day that begins at one o'clock", "2026-09-06T04:00:00Z", "America/Santiago", [2026, 9, 6, 0, 60]],
    ["the day before it, to its end", "2026-09-06T03:59:00Z", "America/Santiago", [2026, 9, 5, 6, 1439]],
    ["half an hour of it", "2026-01-01T13:00:00Z", "Australia/Lord_Howe", [2026, 1, 2, 5, 0]],
    ["three quarters beside the hour", "2026-06-01T00:00:00Z", "Asia/Kathmandu", [2026, 6, 1, 1, 345]],
    ["the other side of the date line", "2026-06-01T00:00:00Z", "Pacific/Apia", [2026, 6, 1, 1, 780]],
    ["a new year's eve elsewhere", "2026-12-31T23:30:00Z", "Asia/Tokyo", [2027, 1, 1, 5, 510]],
  ])("%s", (_, at, timezone, [year, month, day, weekday, minutes]) => {
    expect(localTime(new Date(at), timezone)).toEqual({ year, month, day, weekday, minutes });
  });
});

test("an empty or unknown zone is UTC", () => {
  const at = new Date("2026-11-21T09:30:00Z");
  const utc = { year: 2026, month: 11, day: 21, weekday: 6, minutes: 570 };
  for (const timezone of ["UTC", "", "Middle/Earth"]) expect(localTime(at, timezone)).toEqual(utc);
});

test("any moment in UTC is what the calendar of the machine says", () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true }),
      (at) => {
        expect(localTime(at, "UTC")).toEqual({
          year: at.getUTCFullYear(),
          month: at.getUTCMonth() + 1,
          day: at.getUTCDate(),
          weekday: at.getUTCDay(),
          minutes: at.getUTCHours() * 60 + at.getUTCMinutes(),
        });
      },
    ),
    { seed: 26, numRuns: 300 },
  );
});

test("months have as many days as the calendar gives them", () => {
  expect([1, 2, 4].map((month) => daysInMonth(2026, month))).toEqual([31, 28, 30]);
  expect([2000, 1900, 2024, 4].map((year) => daysInMonth(year, 2))).toEqual([29, 28, 29, 29]);
});
