import type { VisitorCounts, Visitors } from "../question.ts";
import { eachInterval } from "./slices.ts";
import { held, type Kernel, type People } from "./span.ts";

/**
 * Counts people by the interval in which they were seen last: whoever was not yet seen in an interval counts there, and is
 * new if the very first visit lies in it. It takes the visits before the question's range, too.
 */
export function visitorsKernel(question: Visitors, people: People): Kernel<VisitorCounts> {
  const from = question.scope.from?.getTime() ?? 0;
  // A range begins within an interval; what lies before it is history.
  const starts = question.starts.map((start) => Math.max(from, start.getTime()));
  const fresh = new Uint32Array(starts.length);
  const returning = new Uint32Array(starts.length);
  let seen = new Uint16Array(0);
  let [totalFresh, totalReturning] = [0, 0];

  function note(all: Uint32Array, rows: Uint32Array, first: number, end: number, place: number): void {
    const { became } = people;
    const stamp = place + 2;
    let [newcomers, returners, late] = [0, 0, 0];
    // Nobody was always seen.
    seen[0] = stamp;
    for (let row = first; row < end; row++) {
      const one = all[rows[row] ?? 0] ?? 0;
      const person = one < became.length ? (became[one] ?? 0) : one;
      const before = seen[person] ?? 0;
      if (before === stamp) continue;
      seen[person] = stamp;
      if (before === 0) newcomers += 1;
      else {
        returners += 1;
        if (before === history) late += 1;
      }
    }
    if (place < 0) return;
    fresh[place] = (fresh[place] ?? 0) + newcomers;
    returning[place] = (returning[place] ?? 0) + returners;
    totalFresh += newcomers;
    totalReturning += late;
  }

  return {
    columns: ["people", "times"],
    add(span) {
      const all = held(span, "people");
      if (seen.length < people.count()) {
        const more = new Uint16Array(2 * people.count());
        more.set(seen);
        seen = more;
      }
      eachInterval(span, starts, (place, first, end) => note(all, span.rows, first, end, place));
    },
    finish() {
      const intervals = Array.from(fresh, (count, place) => ({
        fresh: count,
        returning: returning[place] ?? 0,
      }));
      return { fresh: totalFresh, returning: totalReturning, intervals };
    },
  };
}

/** The stamp of people who were seen before the range; 0 are those who were not seen, and the intervals follow. */
const history = 1;
