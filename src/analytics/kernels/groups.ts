import type { GroupCounts, Groups, Series, SeriesCounts } from "../question.ts";
import { ranked, sumOf } from "./ranking.ts";
import { eachInterval } from "./slices.ts";
import { held, type Kernel, type NumberedTexts, type Span, type TextsOf } from "./span.ts";
import { createTally } from "./tally.ts";

export function groupsKernel({ dimension, limit }: Groups, textsOf: TextsOf): Kernel<GroupCounts> {
  const tally = createTally();
  return {
    columns: [dimension],
    add: (span) => tally.add(held(span, dimension), span.rows),
    finish() {
      const counts = tally.counts();
      return { total: sumOf(counts), groups: ranked(counts, textsOf(dimension), limit) };
    },
  };
}

/** The largest groups are known when all visits are; then those of the largest groups are counted by interval. */
export function seriesKernel(question: Series, textsOf: TextsOf): Kernel<SeriesCounts> {
  const { dimension, limit } = question;
  const starts = question.starts.map((start) => start.getTime());
  const tally = createTally();
  let places: Map<string, number> | undefined;
  let series: { readonly value: string; readonly counts: number[] }[] = [];

  function begin(): Map<string, number> {
    const groups = ranked(tally.counts(), textsOf(dimension), limit);
    series = groups.map(({ value }) => ({ value, counts: new Array<number>(starts.length).fill(0) }));
    return new Map(groups.map(({ value }, place) => [value, place]));
  }

  return {
    columns: [dimension, "times"],
    add: (span) => tally.add(held(span, dimension), span.rows),
    addAgain(span) {
      places ??= begin();
      const texts = held(span, dimension);
      const placeByCode = placesOf(texts, textsOf(dimension), places, series.length);
      eachInterval(span, starts, (interval, from, to) => {
        const counts = countPlaces(texts, placeByCode, series.length, span, from, to);
        for (const [place, { counts: points }] of series.entries())
          points[interval] = (points[interval] ?? 0) + (counts[place] ?? 0);
      });
    },
    finish() {
      places ??= begin();
      return { total: sumOf(tally.counts()), series };
    },
  };
}

/** The place of each code's text among the largest groups; `others` for all other texts. */
function placesOf(
  { numbers }: NumberedTexts,
  texts: readonly string[],
  places: ReadonlyMap<string, number>,
  others: number,
): Uint16Array {
  return Uint16Array.from(numbers, (number) => places.get(texts[number] ?? "") ?? others);
}

/** How many of some rows have each place. */
function countPlaces(
  { codes }: NumberedTexts,
  placeByCode: Uint16Array,
  others: number,
  { rows }: Span,
  from: number,
  to: number,
): Uint32Array {
  const counts = new Uint32Array(others + 1);
  for (let row = from; row < to; row++) {
    const place = placeByCode[codes[rows[row] ?? 0] ?? 0] ?? 0;
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}
