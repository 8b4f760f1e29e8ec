import { expect, test } from "vitest";
import { intervalStarts } from "../model/intervals.ts";
import { timeTicks } from "./time-ticks.ts";

/** The texts under an axis that has room for so many. */
function ticksOf(from: string, to: string, minutes: number, timezone: string, most: number): string[] {
  const span = { from: new Date(from), to: new Date(to) };
  const starts = intervalStarts(span, minutes, timezone, 2_000) ?? [];
  return timeTicks(starts, timezone, most, () => true).map(({ text }) => text);
}

test("few moments are all written, by the clock of the zone", () => {
  const written = ticksOf("2026-03-28T23:00:00Z", "2026-03-29T03:30:00Z", 60, "Europe/Berlin", 9);
  // The clock skips the hour from two to three.
  expect(written).toEqual(["Mar 29", "01:00", "03:00", "04:00", "05:00"]);
});

test("many moments are written at full hours, beginnings of days and of months, wherever clocks are set", () => {
  const ticks = (from: string, to: string, minutes: number, most: number) =>
    ticksOf(from, to, minutes, "Asia/Kathmandu", most);
  expect(ticks("2026-03-01T00:00:00Z", "2026-03-01T12:00:00Z", 60, 7)).toEqual([
    "Mar 1",
    "08:00",
    "10:00",
    "12:00",
    "14:00",
    "16:00",
  ]);
  expect(ticks("2026-02-26T18:15:00Z", "2026-03-03T18:00:00Z", 60, 5)).toEqual([
    "Feb 28",
    "Mar 1",
    "Mar 2",
    "Mar 3",
  ]);
  expect(ticks("2026-02-20T18:15:00Z", "2026-03-20T18:00:00Z", 1_440, 8)).toEqual([
    "Feb 26",
    "Mar 1",
    "Mar 6",
    "Mar 11",
    "Mar 16",
  ]);
  expect(ticks("2025-10-31T18:15:00Z", "2026-03-20T18:00:00Z", 1_440, 6)).toEqual([
    "Dec 1",
    "2026",
    "Feb 1",
    "Mar 1",
  ]);
  expect(ticksOf("2026-10-24T22:00:00Z", "2026-10-27T22:00:00Z", 60, "Europe/Berlin", 4)).toEqual([
    "Oct 26",
    "Oct 27",
  ]);
});
