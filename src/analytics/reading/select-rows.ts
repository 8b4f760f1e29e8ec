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

let found = new Uint32Array(0);

/** Those of the rows whose links are meant. They are valid until the next call. */
export function rowsOfLinks(
  rows: Uint32Array,
  { codes, numbers }: NumberedTexts,
  isMeant: (number: number) => boolean,
): Uint32Array {
  const meant = new Uint8Array(numbers.length);
  let isAny = false;
  for (let code = 0; code < meant.length; code++) {
    if (!isMeant(numbers[code] ?? 0)) continue;
    meant[code] = 1;
    isAny = true;
  }
  if (!isAny) return rowsFrom(0, 0);
  if (found.length < rows.length) found = new Uint32Array(Math.max(65_536, rows.length));
  const own = found;
  let count = 0;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] ?? 0;
    if (meant[codes[row] ?? 0] === 1) own[count++] = row;
  }
  return own.subarray(0, count);
}

/** Judges links by their numbers, each id once. */
export function byNumber(
  texts: readonly string[],
  filter: (id: string) => boolean,
): (number: number) => boolean {
  // 0 for a link that was not judged yet, 1 for one that is meant, 2 for another.
  let judged = new Uint8Array(0);
  return (number) => {
    if (number >= judged.length) {
      const more = new Uint8Array(Math.max(number + 1, texts.length));
      more.set(judged);
      judged = more;
    }
    if (judged[number] === 0) judged[number] = filter(texts[number] ?? "") ? 1 : 2;
    return judged[number] === 1;
  };
}
