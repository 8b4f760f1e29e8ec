import { type LocalTime, localTime } from "./local-time.ts";

export type Day = Pick<LocalTime, "year" | "month" | "day">;

const hourMs = 3_600_000;

/**
 * The first moment of a day in a time zone, as `localTime` counts days. Where clocks skip midnight, it is the first
 * moment after the gap.
 */
export function startOfDay(day: Day, timezone: string): Date {
  const utc = new Date(0).setUTCFullYear(day.year, day.month - 1, day.day);
  // No clock is more than 14 hours ahead of UTC or 12 hours behind it.
  let before = utc - 16 * hourMs;
  let reached = utc + 14 * hourMs;
  while (reached - before > 1_000) {
    const middle = before + Math.floor((reached - before) / 2_000) * 1_000;
    if (orderOf(localTime(new Date(middle), timezone)) < orderOf(day)) before = middle;
    else reached = middle;
  }
  return new Date(reached);
}

function orderOf({ year, month, day }: Day): number {
  return (year * 12 + month) * 31 + day;
}
