import fc from "fast-check";
import { expect, test } from "vitest";
import { localTime } from "../local-time.ts";
import { cycleOf, monthOf, secondsToReset } from "./cycle.ts";

// Moments in UTC; the days are those of the zone's calendar.
test.each([
  // Daylight saving begins and ends within the month.
  ["2026-03-15T12:00:00Z", "Europe/Berlin", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z", "2026-4-1"],
  ["2026-10-31T22:59:59Z", "Europe/Berlin", "2026-09-30T22:00:00Z", "2026-10-31T23:00:00Z", "2026-11-1"],
  ["2026-11-01T03:59:59Z", "America/New_York", "2026-10-01T04:00:00Z", "2026-11-01T04:00:00Z", "2026-11-1"],
  ["2026-11-01T04:00:00Z", "America/New_York", "2026-11-01T04:00:00Z", "2026-12-01T05:00:00Z", "2026-12-1"],
  // The last day of February, in leap years and others, by all three rules.
  ["2028-02-29T23:59:59Z", "UTC", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z", "2028-3-1"],
  ["2026-02-28T23:59:59Z", "UTC", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-3-1"],
  ["2100-02-28T23:59:59Z", "UTC", "2100-02-01T00:00:00Z", "2100-03-01T00:00:00Z", "2100-3-1"],
  ["2000-02-29T10:00:00Z", "UTC", "2000-02-01T00:00:00Z", "2000-03-01T00:00:00Z", "2000-3-1"],
  // The turn of the year, on both sides of the date line.
  ["2026-12-31T10:00:00Z", "Pacific/Kiritimati", "2026-12-31T10:00:00Z", "2027-01-31T10:00:00Z", "2027-2-1"],
  ["2027-01-01T10:59:59Z", "Pacific/Niue", "2026-12-01T11:00:00Z", "2027-01-01T11:00:00Z", "2027-1-1"],
  // Samoa had no 30 December 2011; clocks of half and quarter hours.
  ["2011-12-31T12:00:00Z", "Pacific/Apia", "2011-12-31T10:00:00Z", "2012-01-31T10:00:00Z", "2012-2-1"],
  ["2026-05-31T18:14:59Z", "Asia/Kathmandu", "2026-04-30T18:15:00Z", "2026-05-31T18:15:00Z", "2026-6-1"],
  // Clocks skipped midnight of the first of the month: the month began at 01:00.
  ["1985-10-15T12:00:00Z", "America/Asuncion", "1985-10-01T04:00:00Z", "1985-11-01T03:00:00Z", "1985-11-1"],
  // An unknown zone, and an empty one, count in UTC.
  ["2026-11-22T00:00:00Z", "Mars/Olympus", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", "2026-12-1"],
  ["2026-11-22T00:00:00Z", "", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", "2026-12-1"],
])("at %s in %s the cycle runs from %s to %s, and resets on %s", (at, zone, start, end, resetsOn) => {
  const cycle = cycleOf(new Date(at), zone);
  expect([cycle.start, cycle.end]).toEqual([new Date(start), new Date(end)]);
  expect(`${cycle.resetsOn.year}-${cycle.resetsOn.month}-${cycle.resetsOn.day}`).toBe(resetsOn);
});

const zones = fc.constantFrom(
  ...[
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
  ],
  ...["Pacific/Kiritimati", "Pacific/Niue", "Africa/Casablanca", "Asia/Gaza", "America/St_Johns"],
);
const moments = fc.date({ min: new Date("1990-01-01"), max: new Date("2037-01-01"), noInvalidDate: true });

test("every moment is in one cycle, whose neighbours begin and end where it does", () => {
  fc.assert(
    fc.property(moments, zones, (at, zone) => {
      const cycle = cycleOf(at, zone);
      expect(cycle.start <= at && at < cycle.end).toBe(true);
      expect(cycle.month).toBe(monthOf(at, zone));
      expect(localTime(cycle.start, zone).day).toBe(1);
      const days = (cycle.end.getTime() - cycle.start.getTime()) / 86_400_000;
      expect(days).toBeGreaterThan(27.9);
      expect(days).toBeLessThan(31.1);
      expect(cycleOf(cycle.end, zone).start).toEqual(cycle.end);
      expect(cycleOf(new Date(cycle.start.getTime() - 1), zone).end).toEqual(cycle.start);
      const seconds = secondsToReset(cycle, at);
      expect(cycleOf(new Date(at.getTime() + seconds * 1_000), zone).month).not.toBe(cycle.month);
    }),
    { numRuns: 300 },
  );
});
