/**
 * Who visited, row by row: twice the number of the visitor in the database, or for a visit without one twice the number of
 * its device and one more; 0 for nobody.
 */
export interface HeldPeople {
  readonly codes: Uint32Array;
  /** The greatest of them. */
  readonly greatest: number;
}

export const codeOfVisitor = (visitor: number) => 2 * visitor;

/** Visitors who have become others since columns were made. */
export interface Moves {
  /** A set of the codes that have moved. */
  readonly moved: Bits;
  /** The code of the visitor who one that has moved is now. */
  became(code: number): number;
  /** The greatest code that somebody became. */
  readonly greatest: number;
}

/** A set of numbers as bits. Its size is the greatest number: the codes of people begin at 0 in each database. */
export type Bits = Uint32Array<ArrayBuffer>;

export const noBits: Bits = new Uint32Array(0);

/** A set with room for numbers up to `greatest`. */
export function bitsFor(bits: Bits, greatest: number): Bits {
  const needed = Math.floor(greatest / 32) + 1;
  if (needed <= bits.length) return bits;
  const more = new Uint32Array(Math.ceil(needed * 1.25));
  more.set(bits);
  return more;
}

export function hasBit(bits: Bits, number: number): boolean {
  return (((bits[number >>> 5] ?? 0) >>> (number & 31)) & 1) === 1;
}

/** Adds a number for which there is room. */
export function addBit(bits: Bits, number: number): void {
  bits[number >>> 5] = (bits[number >>> 5] ?? 0) | (1 << (number & 31));
}

/** The codes of some rows, of those who have moved the ones of now. They are valid until the next call. */
export function codesOf({ codes }: HeldPeople, rows: Uint32Array, { moved, became }: Moves): Uint32Array {
  const { length } = rows;
  const first = rows[0] ?? 0;
  const isRun = (rows[length - 1] ?? 0) - first === length - 1;
  if (isRun && moved.length === 0) return codes.subarray(first, first + length);
  if (found.length < length) found = new Uint32Array(Math.max(65_536, length));
  const own = found.subarray(0, length);
  for (let index = 0; index < length; index++) own[index] = codes[rows[index] ?? 0] ?? 0;
  if (moved.length > 0)
    for (let index = 0; index < length; index++) {
      const code = own[index] ?? 0;
      if (hasBit(moved, code)) own[index] = became(code);
    }
  return own;
}

let found = new Uint32Array(0);
