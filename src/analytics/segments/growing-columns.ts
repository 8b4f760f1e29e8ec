import { greatestOf, wholeNumbers } from "./column-bytes.ts";
import type { Coded, Numbers } from "./columns.ts";

/** Numbers that are added one by one. */
export interface GrowingNumbers {
  add(number: number): void;
  at(row: number): number;
  /** The first `rows` numbers. */
  first(rows: number): Float64Array;
}

export function growingNumbers(): GrowingNumbers {
  let numbers = new Float64Array(1_024);
  let length = 0;
  return {
    add(number) {
      if (length === numbers.length) {
        const longer = new Float64Array(length * 2);
        longer.set(numbers);
        numbers = longer;
      }
      numbers[length] = number;
      length += 1;
    },
    at: (row) => numbers[row] ?? 0,
    first: (rows) => numbers.subarray(0, rows),
  };
}

/** Ids of 16 bytes that are added one by one, and read as texts of as many characters. */
export function growingIds() {
  let ids = Buffer.allocUnsafe(16 * 1_024);
  let used = 0;
  return {
    add(bytes: Buffer, start: number) {
      if (used === ids.length) ids = Buffer.concat([ids, Buffer.allocUnsafe(used)]);
      bytes.copy(ids, used, start, start + 16);
      used += 16;
    },
    at: (row: number) => ids.toString("latin1", row * 16, row * 16 + 16),
  };
}

/** Texts that are added one by one, each distinct one kept once. */
export interface GrowingTexts {
  add(text: string): void;
  /** The code of a text, which the column has from now on. Texts get codes in the order in which they come. */
  codeOf(text: string): number;
  /** The length of all distinct texts, in characters. */
  length(): number;
  /** The first `rows` texts that were added. */
  first(rows: number): Coded;
  /** The column of such codes. */
  column(codes: Float64Array): Coded;
}

export function growingTexts(): GrowingTexts {
  const known = new Map<string, number>();
  const codes = growingNumbers();
  let length = 0;
  const codeOf = (text: string) => {
    const code = known.get(text);
    if (code !== undefined) return code;
    length += text.length;
    known.set(text, known.size);
    return known.size - 1;
  };
  const column = (own: Float64Array): Coded => {
    // What only later rows have comes last.
    const count = own.length === 0 ? 0 : greatestOf(own) + 1;
    const narrow = wholeNumbers(count, own.length);
    narrow.set(own);
    return { values: [...known.keys()].slice(0, count), codes: narrow };
  };
  return {
    codeOf,
    add: (text) => codes.add(codeOf(text)),
    length: () => length,
    first: (rows) => column(codes.first(rows)),
    column,
  };
}

/** Four bytes each, unless one of them needs more. */
export function numbersOf(numbers: Float64Array): Numbers {
  return greatestOf(numbers) <= 0xffff_ffff ? Uint32Array.from(numbers) : numbers.slice();
}
