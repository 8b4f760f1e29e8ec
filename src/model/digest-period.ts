import { type Day, startOfDay } from "./day-start.ts";
import { daysInMonth, localTime } from "./local-time.ts";

/** The period that a digest tells of, and the one before it. */
export interface DigestPeriod {
  readonly period: "week" | "month";
  readonly firstDay: Day;
  readonly lastDay: Day;
  /** The first moment of the period, of the day after its end, and of the period before. */
  readonly from: Date;
  readonly to: Date;
  readonly before: Date;
}

/** Digests come at 08:00 of the workspace's clock. */
const dueMinutes = 8 * 60;

/** How many days a digest is made up for, when the service was away. */
const lateDaysMax = 2;

/**
 * The period whose digest a workspace should have by now: the week before a Monday, or the month before a 1st, from 08:00
 * of that day on. Undefined when the last such day is longer ago than two days.
 */
export function duePeriod(period: "week" | "month", timezone: string, now: Date): DigestPeriod | undefined {
  const today = localTime(now, timezone);
  const daysAgo = period === "week" ? (today.weekday + 6) % 7 : today.day - 1;
  if (daysAgo > lateDaysMax || (daysAgo === 0 && today.minutes < dueMinutes)) return undefined;
  const dueDay = daysBefore(today, daysAgo);
  const lastDay = daysBefore(dueDay, 1);
  const firstDay = firstDayOf(period, lastDay);
  const previous = firstDayOf(period, daysBefore(firstDay, 1));
  return {
    period,
    firstDay,
    lastDay,
    from: startOfDay(firstDay, timezone),
    to: startOfDay(dueDay, timezone),
    before: startOfDay(previous, timezone),
  };
}

/** A day as `2026-11-01`. */
export function dayText({ year, month, day }: Day): string {
  return [String(year).padStart(4, "0"), month, day].map((part) => String(part).padStart(2, "0")).join("-");
}

function firstDayOf(period: "week" | "month", lastDay: Day): Day {
  return daysBefore(lastDay, period === "week" ? 6 : lastDay.day - 1);
}

/** A day at most one month earlier. */
function daysBefore({ year, month, day }: Day, days: number): Day {
  if (day > days) return { year, month, day: day - days };
  const previous = month === 1 ? { year: year - 1, month: 12 } : { year, month: month - 1 };
  return { ...previous, day: daysInMonth(previous.year, previous.month) + day - days };
}
