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
  let past = before.slice();
  // Two bits for each code, so that both are in the memory that was just read: 1 for the interval, 2 for the range.
  let flags: Bits = noBits;
  // Those of the interval, so that their bits can be taken back.
  let present = new Uint32Array(1_024);
  let [interval, presentCount] = [-1, 0];

  function begin(place: number): void {
    for (let index = 0; index < presentCount; index++) {
      const word = (present[index] ?? 0) >>> 4;
      flags[word] = (flags[word] ?? 0) & ofRange;
    }
    [interval, presentCount] = [place, 0];
  }

  function note(people: Uint32Array, first: number, end: number): void {
    const [own, history, list] = [flags, past, present];
    let [fresh, returning, late, length] = [0, 0, 0, presentCount];
    for (let row = first; row < end; row++) {
      const person = people[row] ?? 0;
      const shift = (person & 15) << 1;
      const word = own[person >>> 4] ?? 0;
      const flag = (word >>> shift) & 3;
      if ((flag & 1) === 1 || person === 0) continue;
      own[person >>> 4] = word | (3 << shift);
      list[length++] = person;
      if (flag === 2) returning += 1;
      else if (hasBit(history, person)) late += 1;
      else fresh += 1;
    }
    presentCount = length;
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
      past = bitsFor(past, greatest);
      flags = bitsFor(flags, 2 * greatest + 1);
      const people = codesOf(all, span.rows, moves);
      eachInterval(span, starts, (place, first, end) => {
        if (place < 0) {
          for (let row = first; row < end; row++) addBit(past, people[row] ?? 0);
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

/** The flags of the range among those of sixteen people. */
const ofRange = 0xaaaa_aaaa;
