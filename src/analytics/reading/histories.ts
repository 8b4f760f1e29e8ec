import {
  addBit,
  type Bits,
  bitsFor,
  codeOfVisitor,
  codesOf,
  hasBit,
  type Moves,
  noBits,
} from "../kernels/people.ts";
import { held, type Kernel } from "../kernels/span.ts";
import type { Move, MovedVisitors, MovesThen } from "./moved-visitors.ts";

/** Who was seen in the first segments of a workspace, as it was found for a question. */
export interface Histories {
  /** The one that covers most of these segments, with the people of these moves, and how many it covers. */
  longest(
    links: string,
    versions: readonly string[],
    moves: MovesThen,
  ): { readonly seen: Bits; readonly covered: number };
  /** Takes whom a question found with its moves. */
  keep(history: History): void;
  bytes(): number;
}

export interface History {
  readonly links: string;
  readonly versions: readonly string[];
  readonly seen: Bits;
  readonly moves: MovesThen;
}

/** How many are kept of a workspace: dashboards ask about ranges of several lengths. */
const keptMax = 4;

export function createHistories(moved: MovedVisitors): Histories {
  let kept: History[] = [];
  return {
    longest(links, versions, moves) {
      // The visits of an erased visitor stand for devices that no history knows.
      kept = kept.filter((each) => each.moves.baked >= moves.baked);
      let longest: History | undefined;
      for (const each of kept) {
        const isOlder = each.moves.baked === moves.baked && each.moves.count <= moves.count;
        const isBegin =
          isOlder &&
          each.links === links &&
          each.versions.every((version, index) => version === versions[index]);
        if (isBegin && each.versions.length > (longest?.versions.length ?? 0)) longest = each;
      }
      if (longest === undefined) return { seen: noBits, covered: 0 };
      const { seen } = longest;
      const current = {
        ...longest,
        moves,
        seen: followed(seen, moved.between(longest.moves.count, moves.count)),
      };
      kept = [...kept.filter((each) => each !== longest), current];
      return { seen: current.seen, covered: current.versions.length };
    },
    keep(history) {
      kept = [...kept, history].slice(-keptMax);
    },
    bytes: () => kept.reduce((sum, { seen, versions }) => sum + seen.byteLength + 32 * versions.length, 0),
  };
}

/** Those who were seen, with whom they have become. */
function followed(seen: Bits, moves: readonly Move[]): Bits {
  const news = moves.filter(([visitor]) => hasBit(seen, codeOfVisitor(visitor)));
  if (news.length === 0) return seen;
  let all = seen.slice();
  for (const [, became] of news) {
    all = bitsFor(all, codeOfVisitor(became));
    addBit(all, codeOfVisitor(became));
  }
  return all;
}

/** Adds whoever visited to those who were seen before. */
export function historyKernel(before: Bits, moves: Moves): Kernel<Bits> {
  let seen = before.slice();
  return {
    columns: ["people"],
    add(span) {
      const all = held(span, "people");
      seen = bitsFor(seen, Math.max(all.greatest, moves.greatest));
      const bits = seen;
      const people = codesOf(all, span.rows, moves);
      for (let row = 0; row < people.length; row++) addBit(bits, people[row] ?? 0);
    },
    finish: () => seen,
  };
}
