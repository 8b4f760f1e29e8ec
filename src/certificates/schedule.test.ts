import { expect, test } from "vitest";
import { awayUntil, latestRenewal, momentIn, nextQuestion, nextTry, renewalMoment } from "./schedule.ts";

const at = new Date("2030-01-01T00:00:00Z");
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const after = (ms: number) => new Date(at.getTime() + ms);
const names = Array.from({ length: 500 }, (_, index) => `d${index}.example`);

test.each([90, 6])(
  "certificates of %i days are renewed around two thirds of their life, not all at once",
  (days) => {
    const life = { notBefore: at, notAfter: after(days * dayMs) };
    const parts = names.map((name) => (renewalMoment(name, life).getTime() - at.getTime()) / (days * dayMs));
    expect(Math.min(...parts)).toBeGreaterThanOrEqual(2 / 3 - 1 / 60);
    expect(Math.max(...parts)).toBeLessThanOrEqual(2 / 3 + 1 / 60);
    expect(new Set(parts.map((part) => Math.floor(part * 1_000))).size).toBeGreaterThan(25);
    expect(renewalMoment("a.example", life)).toEqual(renewalMoment("a.example", life));
  },
);

test("names are spread over the time in which their authority wants renewals", () => {
  const window = { start: at, end: after(2 * dayMs) };
  const hours = names.map((name) => (momentIn(name, window).getTime() - at.getTime()) / hourMs);
  expect(Math.min(...hours)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...hours)).toBeLessThanOrEqual(48);
  expect(new Set(hours.map(Math.floor)).size).toBe(48);
  expect(latestRenewal({ notBefore: at, notAfter: after(100 * dayMs) })).toEqual(after(90 * dayMs));
});

test("an authority is asked about a renewal between once an hour and once a day", () => {
  expect(nextQuestion(at)).toEqual(after(6 * hourMs));
  expect(nextQuestion(at, 0)).toEqual(after(hourMs));
  expect(nextQuestion(at, 30 * dayMs)).toEqual(after(dayMs));
});

test("a name that fails is tried less and less often, at last once a day, and never before its authority wants it", () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1_000].map(
    (failures) => nextTry("a.example", failures, at).getTime() - at.getTime(),
  );
  expect(pauses[0]).toBeGreaterThanOrEqual(minuteMs);
  for (const [place, pause] of pauses.slice(1, 8).entries())
    expect(pause).toBeGreaterThan(pauses[place] ?? 0);
  expect(pauses.at(-1)).toBeGreaterThanOrEqual(dayMs);
  expect(pauses.at(-1)).toBeLessThanOrEqual(1.25 * dayMs);
  expect(nextTry("a.example", 1, at, 3 * hourMs)).toEqual(after(3 * hourMs));
});

test("an authority that does not answer is left alone for a minute, and for an hour at last", () => {
  expect(awayUntil(1, at)).toEqual(after(minuteMs));
  expect(awayUntil(50, at)).toEqual(after(hourMs));
  expect(awayUntil(1, at, 2 * hourMs)).toEqual(after(2 * hourMs));
});
