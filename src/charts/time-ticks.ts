import { type LocalTime, localTime } from "../model/local-time.ts";

/** A moment that is written under the axis. */
export interface Tick {
  readonly index: number;
  readonly text: string;
}

const monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A part of the calendar: moments with an equal number are in the same part. The first moment of a part is written. */
type Part = (time: LocalTime) => number;

const dayNumber: Part = ({ year, month, day }) => (year * 12 + month) * 31 + day;
const hours =
  (count: number): Part =>
  (time) =>
    dayNumber(time) * 24 + Math.floor(time.minutes / 60 / count);
const days =
  (count: number): Part =>
  // No part begins so close to the end of a month that its mark touches the first of the next one.
  ({ year, month, day }) =>
    (year * 12 + month) * 31 + Math.min(Math.floor((day - 1) / count), Math.ceil(30 / count) - 1);
const months =
  (count: number): Part =>
  ({ year, month }) =>
    Math.floor((year * 12 + month - 1) / count);

const clockParts = [1, 2, 3, 6, 12].map(hours);
const calendarParts = [...[1, 2, 5, 10, 15].map(days), ...[1, 2, 3, 6, 12, 24, 60, 120].map(months)];

function isOtherDay(one: LocalTime, other: LocalTime): boolean {
  return one.day !== other.day || one.month !== other.month || one.year !== other.year;
}

/**
 * The moments to write under an axis, at most `most`, and as many as `fits` lets through. They follow the clock and the calendar of the zone:
 * full hours, beginnings of days, months and years.
 */
export function timeTicks(
  times: readonly Date[],
  timezone: string,
  most: number,
  fits: (ticks: readonly Tick[]) => boolean,
): readonly Tick[] {
  const local = localTimes(times, timezone);
  const hasHours = local.some(({ minutes }) => minutes !== local[0]?.minutes);
  const every = local.map((_, index) => index);
  for (const part of [undefined, ...(hasHours ? clockParts : []), ...calendarParts]) {
    const marked = part === undefined ? every : beginnings(local, part);
    if (marked.length > most) continue;
    const ticks = marked.map((index, place) => ({
      index,
      text: textOf(local[index], local[marked[place - 1] ?? -1], hasHours),
    }));
    if (fits(ticks)) return ticks;
  }
  return [];
}

const dayMs = 86_400_000;
const minuteMs = 60_000;

/** What the clock shows at moments. Where it is not set between two midnights of UTC, it is asked only at these two. */
function localTimes(times: readonly Date[], timezone: string): LocalTime[] {
  const known = new Map<number, number>();
  const aheadAt = (ms: number) => {
    const ahead = known.get(ms) ?? aheadOf(localTime(new Date(ms), timezone), ms);
    known.set(ms, ahead);
    return ahead;
  };
  return times.map((at) => {
    const midnight = Math.floor(at.getTime() / dayMs) * dayMs;
    const ahead = aheadAt(midnight);
    if (ahead !== aheadAt(midnight + dayMs)) return localTime(at, timezone);
    const clock = new Date(at.getTime() + ahead);
    const [hours, minutes] = [clock.getUTCHours(), clock.getUTCMinutes()];
    return {
      year: clock.getUTCFullYear(),
      month: clock.getUTCMonth() + 1,
      day: clock.getUTCDate(),
      weekday: clock.getUTCDay(),
      minutes: hours * 60 + minutes,
    };
  });
}

function aheadOf({ year, month, day, minutes }: LocalTime, ms: number): number {
  return Date.UTC(year, month - 1, day, 0, minutes) - Math.floor(ms / minuteMs) * minuteMs;
}

/** The moments at which parts begin. Within the first part the range itself begins, unless it is the only one. */
function beginnings(local: readonly LocalTime[], part: Part): number[] {
  const parts = local.map(part);
  const changes = parts.flatMap((each, index) => (index > 0 && each !== parts[index - 1] ? [index] : []));
  return changes.length === 0 ? [0] : changes;
}

/** A moment with as much as the one before it leaves open. */
function textOf(time: LocalTime | undefined, before: LocalTime | undefined, hasHours: boolean): string {
  if (time === undefined) return "";
  const { day, month, year, minutes } = time;
  if (hasHours && before !== undefined && !isOtherDay(time, before)) return clock(minutes);
  // The year is written where it changes.
  if (before !== undefined && before.year !== year)
    return month === 1 && day === 1 ? `${year}` : `${monthNames[month - 1]} ${year}`;
  return `${monthNames[month - 1]} ${day}`;
}

function clock(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** A moment in full, such as `Mar 3, 2026, 14:05`. */
export function fullTime(at: Date, timezone: string): string {
  const { year, month, day, minutes } = localTime(at, timezone);
  return `${monthNames[month - 1]} ${day}, ${year}, ${clock(minutes)}`;
}
