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

export function createTextNumbers(): TextNumbers {
  const texts: string[] = [];
  const numbers = new Map<string, number>();
  let bytes = 0;

  function numberOf(text: string): number {
    let number = numbers.get(text);
    if (number === undefined) {
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
