import { localTime } from "./local-time.ts";

/** From when on a zone's clocks are how many milliseconds ahead of UTC. */
export interface ClockSetting {
  readonly since: Date;
  readonly offsetMs: number;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
const weekMs = 7 * dayMs;

/** Intervals are counted from a Monday's midnight, so that weeks begin on Mondays. */
const originMs = Date.UTC(1970, 0, 5);

/**
 * How the clocks of a zone are set between two moments, in the order of time. The first setting holds at `from`. Clocks
 * are read once a week, because no zone sets them twice in one, and are set on full minutes.
 */
export function clockSettings(from: Date, to: Date, timezone: string): readonly ClockSetting[] {
  let offsetMs = offsetAt(from.getTime(), timezone);
  const settings = [{ since: from, offsetMs }];
  for (let at = from.getTime(); at < to.getTime(); at += weekMs) {
    const next = offsetAt(at + weekMs, timezone);
    if (next === offsetMs) continue;
    settings.push({ since: new Date(settingAt(at, at + weekMs, timezone)), offsetMs: next });
    offsetMs = next;
  }
  return settings.filter(({ since }, index) => index === 0 || since <= to);
}

/** The first minute after `before` at which clocks are set as they are at `after`. */
function settingAt(before: number, after: number, timezone: string): number {
  const wanted = offsetAt(after, timezone);
  let [low, high] = [Math.floor(before / minuteMs), Math.ceil(after / minuteMs)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * minuteMs, timezone) === wanted) high = middle;
    else low = middle;
  }
  return high * minuteMs;
}

function offsetAt(ms: number, timezone: string): number {
  const { year, month, day, minutes } = localTime(new Date(ms), timezone);
  return Date.UTC(year, month - 1, day, 0, minutes) - Math.floor(ms / minuteMs) * minuteMs;
}

export interface Span {
  readonly from: Date;
  /** Inclusive. */
  readonly to: Date;
}

/**
 * The beginnings of the intervals that a span of time touches. An interval begins when the local clock first reaches a
 * full multiple of its length, or skips it. While clocks are set back by less than an interval, the interval goes on: a
 * day has 25 hours. When they are set back by more, full multiples count anew: the hour that comes twice makes two.
 * Undefined when there are more than `max`.
 */
export function intervalStarts(
  { from, to }: Span,
  minutes: number,
  timezone: string,
  max: number,
): readonly Date[] | undefined {
  const lengthMs = minutes * minuteMs;
  // Days before the span show how far the clocks had come.
  const early = new Date(from.getTime() - lengthMs - 2 * dayMs);
  const settings = clockSettings(early, to, timezone);
  let starts: number[] = [];
  const begin = (at: number) => {
    if (at <= from.getTime()) starts = [at];
    else if (at <= to.getTime()) starts.push(at);
  };
  let reached = Number.NEGATIVE_INFINITY;
  for (const [index, { since, offsetMs }] of settings.entries()) {
    const aheadMs = offsetMs - originMs;
    const multipleAt = (ms: number) => Math.floor((ms + aheadMs) / lengthMs);
    const now = multipleAt(since.getTime());
    const setBackMs = (settings[index - 1]?.offsetMs ?? offsetMs) - offsetMs;
    const isAnew = setBackMs >= lengthMs;
    const nowAt = now * lengthMs - aheadMs;
    if (index === 0) begin(nowAt);
    else if (now > reached || (isAnew && nowAt === since.getTime())) begin(since.getTime());
    if (now > reached || isAnew) reached = now;
    const end = settings[index + 1]?.since.getTime() ?? to.getTime() + 1;
    for (let at = (reached + 1) * lengthMs - aheadMs; at < end; at += lengthMs) {
      begin(at);
      if (starts.length > max) return undefined;
      reached += 1;
    }
  }
  return starts.map((ms) => new Date(ms));
}
