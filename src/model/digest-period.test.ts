import { expect, test } from "vitest";
import { dayText, duePeriod } from "./digest-period.ts";

/** The period as days, and its three moments in UTC; nothing when no digest is due. */
function due(period: "week" | "month", timezone: string, now: string): string {
  const found = duePeriod(period, timezone, new Date(now));
  if (found === undefined) return "";
  const { firstDay, lastDay, before, from, to } = found;
  const moments = [before, from, to].map((moment) => moment.toISOString().replace(":00.000Z", "Z"));
  return `${dayText(firstDay)}/${dayText(lastDay)} ${moments.join(" ")}`;
}

const week = "2026-11-09/2026-11-15 2026-11-02T00:00Z 2026-11-09T00:00Z 2026-11-16T00:00Z";
const february = "2024-02-01/2024-02-29 2024-01-01T00:00Z 2024-02-01T00:00Z 2024-03-01T00:00Z";
// The clocks of Berlin went back on 25 October 2026, and forward on 29 March: those weeks have 169 and 167 hours.
const autumn = "2026-10-19/2026-10-25 2026-10-11T22:00Z 2026-10-18T22:00Z 2026-10-25T23:00Z";
const spring = "2026-03-23/2026-03-29 2026-03-15T23:00Z 2026-03-22T23:00Z 2026-03-29T22:00Z";
const march = "2026-03-01/2026-03-31 2026-01-31T23:00Z 2026-02-28T23:00Z 2026-03-31T22:00Z";
const india = "2026-11-09/2026-11-15 2026-11-01T18:30Z 2026-11-08T18:30Z 2026-11-15T18:30Z";
// Kiritimati is 14 hours ahead of UTC, Samoa's other side 11 hours behind it.
const ahead = "2026-12-01/2026-12-31 2026-10-31T10:00Z 2026-11-30T10:00Z 2026-12-31T10:00Z";
const behind = "2026-12-01/2026-12-31 2026-11-01T11:00Z 2026-12-01T11:00Z 2027-01-01T11:00Z";

test.each([
  ["week", "UTC", "2026-11-16T07:59:59.999Z", ""],
  ["week", "UTC", "2026-11-16T08:00:00Z", week],
  ["week", "UTC", "2026-11-18T23:59:00Z", week],
  ["week", "UTC", "2026-11-19T00:00:00Z", ""],
  ["week", "UTC", "2026-11-22T12:00:00Z", ""],
  ["month", "UTC", "2024-03-01T08:00:00Z", february],
  ["month", "UTC", "2024-03-01T07:59:00Z", ""],
  ["month", "UTC", "2024-03-04T08:00:00Z", ""],
  ["week", "Europe/Berlin", "2026-10-26T06:59:59Z", ""],
  ["week", "Europe/Berlin", "2026-10-26T07:00:00Z", autumn],
  ["week", "Europe/Berlin", "2026-03-30T05:59:59Z", ""],
  ["week", "Europe/Berlin", "2026-03-30T06:00:00Z", spring],
  ["month", "Europe/Berlin", "2026-04-01T06:00:00Z", march],
  ["week", "Asia/Kolkata", "2026-11-16T02:29:00Z", ""],
  ["week", "Asia/Kolkata", "2026-11-16T02:30:00Z", india],
  ["month", "Pacific/Kiritimati", "2026-12-31T18:00:00Z", ahead],
  ["month", "Pacific/Pago_Pago", "2027-01-01T18:59:00Z", ""],
  ["month", "Pacific/Pago_Pago", "2027-01-01T19:00:00Z", behind],
  // An unknown zone is UTC.
  ["week", "Mars/Olympus", "2026-11-16T08:00:00Z", week],
] as const)("the digest of a %s in %s at %s is %j", (period, timezone, now, expected) => {
  expect(due(period, timezone, now)).toBe(expected);
});

test("at every half hour of 52 weeks, each week and each month is due once, from 08:00 on", () => {
  for (const [period, timezone] of [
    // Its clocks change by half an hour.
    ["week", "Australia/Lord_Howe"],
    ["month", "America/St_Johns"],
    ["month", "Africa/Casablanca"],
  ] as const) {
    const firsts = new Map<string, string>();
    const start = Date.UTC(2026, 0, 8);
    for (let at = start; at < start + 364 * 86_400_000; at += 1_800_000) {
      const found = duePeriod(period, timezone, new Date(at));
      if (found === undefined) continue;
      const day = dayText(found.lastDay);
      if (!firsts.has(day)) firsts.set(day, new Date(at).toLocaleTimeString("en-GB", { timeZone: timezone }));
    }
    expect(firsts.size, timezone).toBe(period === "week" ? 52 : 12);
    expect(new Set(firsts.values()), timezone).toEqual(new Set(["08:00:00"]));
  }
});
