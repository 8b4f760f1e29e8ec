import { NotSealed } from "./read-state.ts";

/** Numbers the texts of one column of a workspace, in the order in which they come. */
export interface TextNumbers {
  /** By number. */
  readonly texts: readonly string[];
  numbersOf(texts: readonly string[]): Uint32Array;
  /** About how many bytes it takes. */
  bytes(): number;
}

/** What a text takes besides its characters, in the list and in the map. */
const entryBytes = 96;

/** How much the different texts of a column may take, in bytes. Questions about more are left to the reference. */
const textBytesMax = 64 * 1024 * 1024;

export function createTextNumbers(): TextNumbers {
  const texts: string[] = [];
  const numbers = new Map<string, number>();
  let bytes = 0;

  function numberOf(text: string): number {
    let number = numbers.get(text);
    if (number === undefined) {
      if (bytes > textBytesMax) throw new NotSealed("the texts of a column are too long");
      number = texts.length;
      texts.push(text);
      numbers.set(text, number);
      bytes += entryBytes + 2 * text.length;
    }
    return number;
  }

  return {
    texts,
    numbersOf: (some) => Uint32Array.from(some, numberOf),
    bytes: () => bytes,
  };
}
