import type { ClockSetting } from "../../model/intervals.ts";
import { held, type Span } from "./span.ts";

/** Takes the rows `rows[from]` to `rows[to - 1]`, which lie in the interval with that number. */
type TakeSlice = (place: number, from: number, to: number) => void;

const hourMs = 3_600_000;

/** Goes through the intervals in which a span has rows. Rows from before the first start have the number -1. */
export function eachInterval(span: Span, starts: readonly number[], take: TakeSlice): void {
  const { length } = span.rows;
  let place = -1;
  for (let row = 0; row < length; ) {
    place = lastNotAfter(starts, timeOf(span, row), place);
    const next = starts[place + 1];
    const end = next === undefined ? length : firstFrom(span, next, row);
    take(place, row, end);
    row = end;
  }
}

/** Goes through the hours of the day on the clock, 0 to 23, in which a span has rows. */
export function eachHour(span: Span, clock: readonly ClockSetting[], take: TakeSlice): void {
  const sinces = clock.map(({ since }) => since.getTime());
  const { length } = span.rows;
  for (let row = 0, setting = 0; row < length; ) {
    const at = timeOf(span, row);
    setting = Math.max(0, lastNotAfter(sinces, at, setting));
    const shown = at + (clock[setting]?.offsetMs ?? 0);
    const hours = Math.floor(shown / hourMs);
    const full = at + (hours + 1) * hourMs - shown;
    const end = firstFrom(span, Math.min(full, sinces[setting + 1] ?? full), row);
    take(hours - Math.floor(hours / 24) * 24, row, end);
    row = end;
  }
}

/** When a row was visited, in milliseconds since 1970. */
export function timeOf(span: Span, row: number): number {
  return span.beginsAt + (held(span, "times")[span.rows[row] ?? 0] ?? 0);
}

/** The last of ascending moments that is not after `at`; `known` is not after the result. */
function lastNotAfter(moments: readonly number[], at: number, known: number): number {
  let [low, high] = [known, moments.length];
  // Moments up to `low` are not after it, those from `high` on are.
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((moments[middle] ?? 0) <= at) low = middle;
    else high = middle;
  }
  return low;
}

/** The first row from `known` on that was not visited before `at`. */
function firstFrom(span: Span, at: number, known: number): number {
  let [low, high] = [known, span.rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(span, middle) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
