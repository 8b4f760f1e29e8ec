import type { NumberedTexts } from "../kernels/span.ts";

/** Whether a link is meant. Undefined for a question about all links. */
export type LinkFilter = ((id: string) => boolean) | undefined;

let all = new Uint32Array(0);

/** The rows `from` to `to - 1`. */
export function rowsFrom(from: number, to: number): Uint32Array {
  if (all.length < to) all = Uint32Array.from({ length: Math.max(to, 65_536) }, (_, row) => row);
  return all.subarray(from, to);
}

/** The rows whose times lie from one to another, both inclusive, after the beginning of their span. */
export function rowsBetween(times: Uint32Array, from: number, to: number): Uint32Array {
  const first = from <= 0 ? 0 : firstAtLeast(times, from);
  return rowsFrom(first, Math.max(first, firstAtLeast(times, to + 1)));
}

function firstAtLeast(times: Uint32Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Those of the rows whose links are meant. */
export function rowsOfLinks(
  rows: Uint32Array,
  { codes, numbers }: NumberedTexts,
  isMeant: (number: number) => boolean,
): Uint32Array {
  const meant = Uint8Array.from(numbers, (number) => (isMeant(number) ? 1 : 0));
  if (!meant.includes(1)) return rowsFrom(0, 0);
  const found = new Uint32Array(rows.length);
  let count = 0;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] ?? 0;
    found[count] = row;
    count += meant[codes[row] ?? 0] ?? 0;
  }
  return found.subarray(0, count);
}

/** Judges links by their numbers, each id once. */
export function byNumber(
  texts: readonly string[],
  filter: (id: string) => boolean,
): (number: number) => boolean {
  const judged: (boolean | undefined)[] = [];
  return (number) => {
    judged[number] ??= filter(texts[number] ?? "");
    return judged[number];
  };
}
