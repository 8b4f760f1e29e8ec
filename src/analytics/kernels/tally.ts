import type { NumberedTexts } from "./span.ts";

/** How often each numbered text occurs. */
export interface Tally {
  /** Counts the rows `rows[from]` to `rows[to - 1]`. */
  add(texts: NumberedTexts, rows: Uint32Array, from?: number, to?: number): void;
  /** By number; it may end early. */
  counts(): Float64Array;
}

export function createTally(): Tally {
  let counts = new Float64Array(64);
  return {
    add({ codes, numbers }, rows, from = 0, to = rows.length) {
      const own = countCodes(codes, numbers.length, rows, from, to);
      counts = grown(counts, numbers);
      for (let code = 0; code < own.length; code++) {
        const number = numbers[code] ?? 0;
        counts[number] = (counts[number] ?? 0) + (own[code] ?? 0);
      }
    },
    counts: () => counts,
  };
}

/** How many rows have each code. */
export function countCodes(
  codes: NumberedTexts["codes"],
  length: number,
  rows: Uint32Array,
  from: number,
  to: number,
): Uint32Array {
  const counts = new Uint32Array(length);
  for (let row = from; row < to; row++) {
    const code = codes[rows[row] ?? 0] ?? 0;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

/** An array with a place for each of the numbers. */
export function grown<Values extends Float64Array | Uint32Array>(
  values: Values,
  numbers: Uint32Array,
): Values {
  let greatest = -1;
  for (let index = 0; index < numbers.length; index++) greatest = Math.max(greatest, numbers[index] ?? 0);
  if (greatest < values.length) return values;
  const more = new (values.constructor as new (length: number) => Values)(
    Math.max(2 * values.length, greatest + 1),
  );
  more.set(values);
  return more;
}
