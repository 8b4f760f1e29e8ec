import { addBit, type Bits, bitsFor, codesOf, hasBit, type Moves, noBits } from "./people.ts";
import { held, type Kernel } from "./span.ts";

/** The visitors of a scope. */
export interface Audience {
  readonly size: number;
  /** Their codes, among others. */
  readonly has: Bits;
}

export function audienceKernel(moves: Moves): Kernel<Audience> {
  let has = noBits;
  let size = 0;
  return {
    columns: ["people"],
    add(span) {
      const all = held(span, "people");
      has = bitsFor(has, Math.max(all.greatest, moves.greatest));
      const bits = has;
      const people = codesOf(all, span.rows, moves);
      for (let row = 0; row < people.length; row++) {
        const person = people[row] ?? 0;
        // The codes of devices are odd.
        if ((person & 1) === 1 || person === 0 || hasBit(bits, person)) continue;
        addBit(bits, person);
        size += 1;
      }
    },
    finish: () => ({ size, has }),
  };
}
