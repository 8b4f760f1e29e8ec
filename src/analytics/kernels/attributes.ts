import { answerBytesMax } from "../../lib/paging/fill-page.ts";
import { createSum, floatOf, meanOf, numberIn } from "../exact-mean.ts";
import type { AttributeNumbers, AttributeValues, GivenValues, GroupCounts } from "../question.ts";
import type { Audience } from "./audience.ts";
import { byBytes, firstOf } from "./ranking.ts";

/** Some of the visitors who have an attribute. All of them come in the order of an answer: the newest value first. */
export interface GivenChunk {
  /** Their numbers. */
  readonly people: Uint32Array;
  /** Row i has `values[codes[i]]`. */
  readonly values: readonly string[];
  readonly codes: Uint32Array;
  /** When the values were given, in milliseconds since 1970. */
  readonly ats: Float64Array;
}

/** Takes the values of an attribute chunk by chunk. */
export interface AttributeKernel<Answer> {
  add(chunk: GivenChunk): void;
  finish(): Answer;
}

/** Takes each value of a chunk that somebody of the audience has, and how many have it. */
function eachValue(
  { has }: Audience,
  { people, codes, values }: GivenChunk,
  take: (value: string, count: number) => void,
): void {
  const counts = new Uint32Array(values.length);
  for (let row = 0; row < people.length; row++) {
    if (has[people[row] ?? 0] !== 1) continue;
    const code = codes[row] ?? 0;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  for (const [code, count] of counts.entries()) if (count > 0) take(values[code] ?? "", count);
}

export function numbersKernel(audience: Audience): AttributeKernel<AttributeNumbers> {
  const sum = createSum();
  let [withValue, withNumber] = [0, 0];
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  return {
    add(chunk) {
      eachValue(audience, chunk, (value, count) => {
        withValue += count;
        const number = numberIn(value);
        if (number === undefined) return;
        withNumber += count;
        sum.add(number, count);
        const float = floatOf(value);
        least = Math.min(least, float);
        greatest = Math.max(greatest, float);
      });
    },
    finish() {
      const numbers = withNumber > 0 ? { mean: meanOf(sum.sum(), withNumber), least, greatest } : undefined;
      return { audience: audience.size, withValue, withNumber, numbers };
    },
  };
}

export function valueGroupsKernel(
  audience: Audience,
  { limit }: AttributeValues,
): AttributeKernel<GroupCounts> {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    add(chunk) {
      eachValue(audience, chunk, (value, count) => {
        counts.set(value, (counts.get(value) ?? 0) + count);
        total += count;
      });
    },
    finish() {
      const groups = [...counts].map(([value, count]) => ({ value, count }));
      return {
        total,
        groups: firstOf(groups, limit, (a, b) => b.count - a.count || byBytes(a.value, b.value)),
      };
    },
  };
}

export function newestValuesKernel(
  { has }: Audience,
  { limit }: AttributeValues,
): AttributeKernel<GivenValues> {
  const values: { readonly value: string; readonly at: Date }[] = [];
  let [total, bytes, isFull] = [0, 0, false];
  return {
    add({ people, codes, values: texts, ats }) {
      for (let row = 0; row < people.length; row++) {
        if (has[people[row] ?? 0] !== 1) continue;
        total += 1;
        // As many as fit into an answer, and two in any case.
        isFull ||= values.length >= limit || (values.length >= 2 && bytes > answerBytesMax);
        if (isFull) continue;
        const value = texts[codes[row] ?? 0] ?? "";
        values.push({ value, at: new Date(ats[row] ?? 0) });
        bytes += Buffer.byteLength(value);
      }
    },
    finish: () => ({ total, values }),
  };
}
