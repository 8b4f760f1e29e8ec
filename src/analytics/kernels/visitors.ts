import type { VisitorCounts, Visitors } from "../question.ts";
import { addBit, type Bits, bitsFor, codesOf, hasBit, type Moves, noBits } from "./people.ts";
import { eachInterval } from "./slices.ts";
import { held, type Kernel } from "./span.ts";

/**
 * Counts people once for each interval and once for the range. Who was seen neither before the range nor earlier in it is
 * new, and everybody else returns. `before` has those of visits before the range that it is not given.
 */
export function visitorsKernel(question: Visitors, moves: Moves, before: Bits): Kernel<VisitorCounts> {
  const from = question.scope.from?.getTime() ?? 0;
  // A range begins within an interval; what lies before it is history.
  const starts = question.starts.map((start) => Math.max(from, start.getTime()));
  const counts = starts.map(() => ({ fresh: 0, returning: 0 }));
  const total = { fresh: 0, returning: 0 };
  let early = noBits;
  let inRange = noBits;
  let inInterval = noBits;
  // Those of the interval, so that their bits can be taken back.
  let present = new Uint32Array(1_024);
  let [interval, presentCount] = [-1, 0];

  function begin(place: number): void {
    for (let index = 0; index < presentCount; index++) inInterval[(present[index] ?? 0) >>> 5] = 0;
    [interval, presentCount] = [place, 0];
  }

  function note(people: Uint32Array, first: number, end: number): void {
    const [days, range, past] = [inInterval, inRange, early];
    let [fresh, returning, late] = [0, 0, 0];
    for (let row = first; row < end; row++) {
      const person = people[row] ?? 0;
      if (hasBit(days, person) || person === 0) continue;
      addBit(days, person);
      present[presentCount++] = person;
      if (hasBit(range, person)) {
        returning += 1;
        continue;
      }
      addBit(range, person);
      if (hasBit(before, person) || hasBit(past, person)) late += 1;
      else fresh += 1;
    }
    const count = counts[interval];
    if (count === undefined) return;
    count.fresh += fresh;
    count.returning += returning + late;
    total.fresh += fresh;
    total.returning += late;
  }

  return {
    columns: ["people", "times"],
    add(span) {
      const all = held(span, "people");
      const greatest = Math.max(all.greatest, moves.greatest);
      [early, inRange] = [bitsFor(early, greatest), bitsFor(inRange, greatest)];
      inInterval = bitsFor(inInterval, greatest);
      const people = codesOf(all, span.rows, moves);
      eachInterval(span, starts, (place, first, end) => {
        if (place < 0) {
          for (let row = first; row < end; row++) addBit(early, people[row] ?? 0);
          return;
        }
        if (place !== interval) begin(place);
        if (present.length < presentCount + end - first) {
          const more = new Uint32Array(2 * (presentCount + end - first));
          more.set(present);
          present = more;
        }
        note(people, first, end);
      });
    },
    finish: () => ({ ...total, intervals: counts }),
  };
}
