import { addBit, bitsFor, codeOfVisitor, type Moves, noBits } from "../kernels/people.ts";

/** Who had become whom at one moment. It stays as it is when others move. */
export interface MovesThen extends Moves {
  /** How many moves were noted until then. */
  readonly count: number;
  /** How many of these moves are in columns already: those up to the last erasure. */
  readonly baked: number;
}

/** A visitor who has become another one; 0 for an erased one. */
export type Move = readonly [visitor: number, became: number];

/** The moves of a workspace's visitors, in the order in which they were read. */
export interface MovedVisitors {
  /** Takes moves; those that are known already may come again. */
  note(moves: readonly Move[]): void;
  now(): MovesThen;
  /** Who a visitor was when `count` moves were noted. */
  visitorAt(visitor: number, count: number): number;
  /** The moves that were noted between two counts. */
  between(from: number, to: number): readonly Move[];
  bytes(): number;
}

/** What a move takes: its place in the list, in the map, and the one before it. */
const moveBytes = 128;

export function createMovedVisitors(): MovedVisitors {
  const noted: Move[] = [];
  /** For each move the earlier one of the same visitor, and for each visitor the last one; -1 for none. */
  const earlier: number[] = [];
  const last = new Map<number, number>();
  // Bits of later moves do not disturb: those visitors are found unmoved.
  let moved = noBits;
  let greatest = 0;
  let baked = 0;

  function visitorAt(visitor: number, count: number): number {
    let place = last.get(visitor) ?? -1;
    while (place >= count) place = earlier[place] ?? -1;
    return noted[place]?.[1] ?? visitor;
  }

  return {
    visitorAt,
    note(moves) {
      let hasErased = noted.length === 0;
      for (const [visitor, became] of moves) {
        const before = last.get(visitor) ?? -1;
        if (noted[before]?.[1] === became) continue;
        last.set(visitor, noted.length);
        earlier.push(before);
        noted.push([visitor, became]);
        const code = codeOfVisitor(visitor);
        moved = bitsFor(moved, code);
        addBit(moved, code);
        greatest = Math.max(greatest, codeOfVisitor(became));
        // Columns have the devices of erased visitors from when they are made.
        hasErased ||= became === 0;
      }
      if (hasErased) baked = noted.length;
    },
    now() {
      const count = noted.length;
      const became = (code: number) => codeOfVisitor(visitorAt(code / 2, count));
      return { moved, greatest, count, baked, became };
    },
    between: (from, to) => noted.slice(from, to),
    bytes: () => moved.byteLength + moveBytes * noted.length,
  };
}
