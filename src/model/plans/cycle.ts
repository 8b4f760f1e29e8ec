import { type Day, startOfDay } from "../day-start.ts";
import { localTime } from "../local-time.ts";

/** A calendar month of a time zone, in which a monthly limit counts. */
export interface Cycle {
  /**
   * The month, as `2026-11`. It names the cycle: a workspace whose zone changes goes on with the month's count, instead
   * of beginning anew.
   */
  readonly month: string;
  readonly start: Date;
  /** The first moment of the next cycle. */
  readonly end: Date;
  /** The next cycle's first day. */
  readonly resetsOn: Day;
}

/** The month that a moment belongs to, as `Cycle` names it. This costs far less than the whole cycle. */
export function monthOf(at: Date, timezone: string): string {
  const { year, month } = localTime(at, timezone);
  return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}`;
}

/** The cycle that a moment belongs to. */
export function cycleOf(at: Date, timezone: string): Cycle {
  const { year, month } = localTime(at, timezone);
  const first: Day = { year, month, day: 1 };
  const next: Day = month === 12 ? { year: year + 1, month: 1, day: 1 } : { year, month: month + 1, day: 1 };
  return {
    month: monthOf(at, timezone),
    start: startOfDay(first, timezone),
    end: startOfDay(next, timezone),
    resetsOn: next,
  };
}

/** Whole seconds until the next cycle begins, at least 1. */
export function secondsToReset(cycle: Pick<Cycle, "end">, at: Date): number {
  return Math.max(1, Math.ceil((cycle.end.getTime() - at.getTime()) / 1_000));
}
