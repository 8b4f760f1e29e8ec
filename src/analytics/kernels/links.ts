import type { TopLinks } from "../question.ts";
import { firstOf, occurring, sumOf } from "./ranking.ts";
import { held, type Kernel, type TextsOf } from "./span.ts";
import { createTally } from "./tally.ts";

/** The visits of every link. What the links are called is not part of the columns. */
export interface LinkVisits {
  readonly total: number;
  readonly links: number;
  /**
   * The links with the most visits: at least `count` of them, if there are as many, and all that have as many visits as
   * the last one.
   */
  most(count: number): { readonly id: string; readonly count: number }[];
}

export function linksKernel(_question: TopLinks, textsOf: TextsOf): Kernel<LinkVisits> {
  const tally = createTally();
  return {
    columns: ["links"],
    add: (span) => tally.add(held(span, "links"), span.rows),
    finish() {
      const counts = tally.counts();
      const countOf = (number: number) => counts[number] ?? 0;
      const numbers = occurring(counts);
      const ids = textsOf("links");
      return {
        total: sumOf(counts),
        links: numbers.length,
        most(count) {
          const first = firstOf(numbers, count, (a, b) => countOf(b) - countOf(a));
          const least = first.length < count ? 0 : countOf(first.at(-1) ?? 0);
          const most = numbers.filter((number) => countOf(number) >= least);
          return most.map((number) => ({ id: ids[number] ?? "", count: countOf(number) }));
        },
      };
    },
  };
}
