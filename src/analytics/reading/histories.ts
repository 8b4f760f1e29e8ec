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

/** Who was seen in the first segments of a workspace, as it was found for a question. */
export interface Histories {
  /** The one that covers most of these segments, and how many it covers. */
  longest(links: string, versions: readonly string[]): { readonly seen: Bits; readonly covered: number };
  keep(links: string, versions: readonly string[], seen: Bits): void;
  /** Takes visitors who have become others; 0 for erased ones. */
  move(moves: readonly (readonly [visitor: number, became: number])[]): void;
  bytes(): number;
}

interface KeptHistory {
  readonly links: string;
  readonly versions: readonly string[];
  seen: Bits;
}

/** How many are kept of a workspace: dashboards ask about ranges of several lengths. */
const keptMax = 4;

export function createHistories(): Histories {
  let kept: KeptHistory[] = [];
  return {
    longest(links, versions) {
      let longest: KeptHistory | undefined;
      for (const each of kept) {
        const isBegin =
          each.links === links && each.versions.every((version, index) => version === versions[index]);
        if (isBegin && each.versions.length > (longest?.versions.length ?? 0)) longest = each;
      }
      if (longest === undefined) return { seen: noBits, covered: 0 };
      kept = [...kept.filter((each) => each !== longest), longest];
      return { seen: longest.seen, covered: longest.versions.length };
    },
    keep(links, versions, seen) {
      kept = [...kept, { links, versions, seen }].slice(-keptMax);
    },
    move(moves) {
      // The visits of an erased visitor stand for devices that no history knows.
      if (moves.some(([, became]) => became === 0)) kept = [];
      for (const each of kept)
        for (const [visitor, became] of moves) {
          if (!hasBit(each.seen, codeOfVisitor(visitor))) continue;
          const seen = bitsFor(each.seen, codeOfVisitor(became));
          addBit(seen, codeOfVisitor(became));
          each.seen = seen;
        }
    },
    bytes: () => kept.reduce((sum, { seen, versions }) => sum + seen.byteLength + 32 * versions.length, 0),
  };
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
