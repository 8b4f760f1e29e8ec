import type { Group } from "../question.ts";

/** The texts that occur, most frequent first; equal ones by their bytes, and the empty one last. */
export function ranked(counts: Float64Array, texts: readonly string[], limit: number): Group[] {
  const text = (number: number) => texts[number] ?? "";
  const count = (number: number) => counts[number] ?? 0;
  const first = firstOf(occurring(counts), limit, (a, b) => {
    return (
      count(b) - count(a) || Number(text(a) === "") - Number(text(b) === "") || byBytes(text(a), text(b))
    );
  });
  return first.map((number) => ({ value: text(number), count: count(number) }));
}

/** The numbers whose counts are not 0. */
export function occurring(counts: Float64Array): number[] {
  const numbers: number[] = [];
  for (let number = 0; number < counts.length; number++) if (counts[number] !== 0) numbers.push(number);
  return numbers;
}

export function sumOf(counts: Float64Array): number {
  let sum = 0;
  for (let number = 0; number < counts.length; number++) sum += counts[number] ?? 0;
  return sum;
}

/** The first `limit` in an order. Of many items, most are compared once. */
export function firstOf<Item>(
  items: readonly Item[],
  limit: number,
  compare: (a: Item, b: Item) => number,
): Item[] {
  if (items.length <= 2 * limit) return items.toSorted(compare).slice(0, limit);
  const first: Item[] = [];
  for (const item of items) {
    const last = first[limit - 1];
    if (last !== undefined && compare(item, last) >= 0) continue;
    let [low, high] = [0, first.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compare(first[middle] as Item, item) <= 0) low = middle + 1;
      else high = middle;
    }
    first.splice(low, 0, item);
    if (first.length > limit) first.pop();
  }
  return first;
}

/** Compares texts as PostgreSQL's collation "C" does: by their bytes in UTF-8, which is the order of code points. */
export function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [one, other] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (one !== other) return placeOf(one) - placeOf(other);
  }
  return a.length - b.length;
}

/** Halves of surrogate pairs stand for code points behind all others. */
function placeOf(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
