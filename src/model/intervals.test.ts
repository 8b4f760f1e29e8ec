import fc from "fast-check";
import { expect, test } from "vitest";
import { startOfDay } from "./day-start.ts";
import { clockSettings, intervalStarts } from "./intervals.ts";
import { localTime } from "./local-time.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const startsOf = (from: string, to: string, minutes: number, timezone: string) =>
  intervalStarts({ from: new Date(from), to: new Date(to) }, minutes, timezone, 2_000)?.map((start) =>
    start.toISOString().slice(5, 16),
  );

test.each([
  [
    "the hour that comes twice makes two intervals",
    ["2026-10-24T23:10:00Z", "2026-10-25T02:00:00Z", 60, "Europe/Berlin"],
    ["10-24T23:00", "10-25T00:00", "10-25T01:00", "10-25T02:00"],
  ],
  [
    "an interval goes on while clocks are set back by less than its length",
    ["2026-10-24T22:00:00Z", "2026-10-25T03:30:00Z", 240, "Europe/Berlin"],
    ["10-24T22:00", "10-25T03:00"],
  ],
  [
    "an interval that begins in an hour left out begins after it",
    ["2026-03-28T23:00:00Z", "2026-03-29T02:30:00Z", 120, "Europe/Berlin"],
    ["03-28T23:00", "03-29T01:00", "03-29T02:00"],
  ],
  [
    "the day on which clocks are set back to midnight is one day",
    ["2026-10-31T05:00:00Z", "2026-11-02T05:00:00Z", 1_440, "America/Havana"],
    ["10-31T04:00", "11-01T04:00", "11-02T05:00"],
  ],
  [
    "clocks are set back by half an hour",
    ["2026-04-04T13:30:00Z", "2026-04-04T16:00:00Z", 60, "Australia/Lord_Howe"],
    ["04-04T13:00", "04-04T14:00", "04-04T15:30"],
  ],
  [
    "clocks are set back from a quarter to four to a quarter to three",
    ["2024-04-06T12:15:00Z", "2024-04-06T15:00:00Z", 60, "Pacific/Chatham"],
    ["04-06T12:15", "04-06T13:15", "04-06T14:15"],
  ],
  [
    "clocks skip from a quarter to three to a quarter to four",
    ["2024-09-28T13:15:00Z", "2024-09-28T15:00:00Z", 60, "Pacific/Chatham"],
    ["09-28T13:15", "09-28T14:00", "09-28T14:15"],
  ],
  [
    "weeks begin on Mondays",
    ["2026-04-04T13:00:00Z", "2026-04-06T00:00:00Z", 10_080, "Asia/Kathmandu"],
    ["03-29T18:15", "04-05T18:15"],
  ],
  [
    "a moment touches one interval",
    ["2024-02-29T13:00:00Z", "2024-02-29T13:00:00Z", 5, "UTC"],
    ["02-29T13:00"],
  ],
] as const)("%s", (_, [from, to, minutes, timezone], expected) => {
  expect(startsOf(from, to, minutes, timezone)).toEqual(expected);
});

test("as many intervals as allowed are made, and not one more", () => {
  const from = new Date("2026-01-01T00:00:00Z");
  const through = (minutes: number) => ({ from, to: new Date(from.getTime() + minutes * 60_000 - 1) });
  expect(intervalStarts(through(10_000), 5, "UTC", 2_000)).toHaveLength(2_000);
  expect(intervalStarts(through(10_001), 5, "UTC", 2_000)).toBeUndefined();
});

const zones = [
  "UTC",
  "Europe/Berlin",
  "America/Santiago",
  "America/Havana",
  "America/St_Johns",
  "Asia/Kathmandu",
];
const otherZones = [
  "Africa/Casablanca",
  "Africa/Cairo",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
  "Pacific/Apia",
];

const span = fc
  .record({ from: fc.integer({ min: Date.UTC(2012), max: Date.UTC(2036) }), days: fc.nat(400) })
  .map(({ from, days }) => ({ from: new Date(from), to: new Date(from + days * dayMs) }));

test("days begin where the calendar's days do, in every zone", () => {
  fc.assert(
    fc.property(span, fc.constantFrom(...zones, ...otherZones), ({ from, to }, timezone) => {
      const starts = intervalStarts({ from, to }, 1_440, timezone, 2_000) ?? [];
      const last = starts.at(-1) ?? from;
      expect(starts[0]).toEqual(startOfDay(localTime(from, timezone), timezone));
      expect(last).toEqual(startOfDay(localTime(to, timezone), timezone));
      const lengths = starts
        .slice(1)
        .map((start, index) => start.getTime() - (starts[index]?.getTime() ?? 0));
      const unusual = lengths.filter((length) => length !== dayMs);
      expect(unusual.every((length) => Math.abs(length - dayMs) <= hourMs)).toBe(true);
      expect(unusual.length).toBeLessThanOrEqual(6);
    }),
    { seed: 15, numRuns: 60 },
  );
});

test("hours have an hour each, where clocks are set by full hours", () => {
  fc.assert(
    fc.property(span, fc.constantFrom(...zones), ({ from }, timezone) => {
      const to = new Date(from.getTime() + 80 * dayMs);
      const starts = intervalStarts({ from, to }, 60, timezone, 2_000) ?? [];
      expect(starts.length).toBeGreaterThan(80 * 24);
      const gaps = starts.slice(1).map((start, index) => start.getTime() - (starts[index]?.getTime() ?? 0));
      expect(new Set(gaps)).toEqual(new Set([hourMs]));
      expect(localTime(starts[0] ?? from, timezone).minutes % 60).toBe(0);
    }),
    { seed: 15, numRuns: 40 },
  );
});

test("settings say of every moment what the zone's clocks show", () => {
  fc.assert(
    fc.property(
      span,
      fc.constantFrom(...zones, ...otherZones),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (range, timezone, share) => {
        const { from, to } = range;
        const at = new Date(from.getTime() + Math.floor((to.getTime() - from.getTime()) * share));
        const setting = clockSettings(from, to, timezone).findLast(({ since }) => since <= at);
        const shown = localTime(new Date(at.getTime() + (setting?.offsetMs ?? 0)), "UTC");
        expect(shown).toEqual(localTime(at, timezone));
      },
    ),
    { seed: 15, numRuns: 100 },
  );
});
