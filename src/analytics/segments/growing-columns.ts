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

/** Texts that are added one by one, each distinct one kept once. */
export interface GrowingTexts {
  add(text: string): void;
  /** Adds a text that was added before, by its code. */
  addCode(code: number): void;
  /** The code of a text, which will be added now. */
  codeOf(text: string): number;
  /** The length of all distinct texts, in characters. */
  length(): number;
  /** The first `rows` texts. */
  first(rows: number): Coded;
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
  return {
    codeOf,
    add: (text) => codes.add(codeOf(text)),
    addCode: codes.add,
    length: () => length,
    first(rows) {
      const own = codes.first(rows);
      // A text gets its code with its first row, so what later rows added comes last.
      const count = rows === 0 ? 0 : greatestOf(own) + 1;
      const narrow = wholeNumbers(count, rows);
      narrow.set(own);
      return { values: [...known.keys()].slice(0, count), codes: narrow };
    },
  };
}

/** Four bytes each, unless one of them needs more. */
export function numbersOf(numbers: Float64Array): Numbers {
  return greatestOf(numbers) <= 0xffff_ffff ? Uint32Array.from(numbers) : numbers.slice();
}
