import type { ErrorCorrection } from "./matrix.ts";

/** Codewords that correct each other: the position of each in the code's sequence, those with data first. */
export interface Block {
  readonly places: readonly number[];
  readonly dataCount: number;
}

// ISO/IEC 18004, table 9: the number of blocks, and of correction codewords in each, for the versions 1 to 40.
const blockCounts: Readonly<Record<ErrorCorrection, string>> = {
  L: "1 1 1 1 1 2 2 2 2 4 4 4 4 4 6 6 6 6 7 8 8 9 9 10 12 12 12 13 14 15 16 17 18 19 19 20 21 22 24 25",
  M: "1 1 1 2 2 4 4 4 5 5 5 8 9 9 10 10 11 13 14 16 17 17 18 20 21 23 25 26 28 29 31 33 35 37 38 40 43 45 47 49",
  Q: "1 1 2 2 4 4 6 6 8 8 8 10 12 16 12 17 16 18 21 20 23 23 25 27 29 34 34 35 38 40 43 45 48 51 53 56 59 62 65 68",
  H: "1 1 2 4 4 4 5 6 8 8 11 11 16 16 18 16 19 21 25 25 25 34 30 32 35 37 40 42 45 48 51 54 57 60 63 66 70 74 77 81",
};
const correctionCounts: Readonly<Record<ErrorCorrection, string>> = {
  L: "7 10 15 20 26 18 20 24 30 18 20 24 26 30 22 24 28 30 28 28 28 28 30 30 26 28 30 30 30 30 30 30 30 30 30 30 30 30 30 30",
  M: "10 16 26 18 24 16 18 22 22 26 30 22 22 24 24 28 28 26 26 26 26 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28",
  Q: "13 22 18 26 18 24 18 22 20 24 28 26 24 20 30 24 28 28 26 30 28 30 30 30 30 28 30 30 30 30 30 30 30 30 30 30 30 30 30 30",
  H: "17 28 22 16 22 28 26 26 24 28 24 28 22 24 24 30 28 28 26 28 30 24 30 30 30 30 30 30 30 30 30 30 30 30 30 30 30 30 30 30",
};

/** The blocks of a code with `total` codewords. The codewords of the blocks take turns, data first, then correction. */
export function blocksOf(version: number, errorCorrection: ErrorCorrection, total: number): Block[] {
  const count = entry(blockCounts[errorCorrection], version);
  const corrections = entry(correctionCounts[errorCorrection], version);
  const dataTotal = total - count * corrections;
  const short = Math.floor(dataTotal / count);
  const longFrom = count - (dataTotal % count);
  return Array.from({ length: count }, (_, block) => {
    const data = Array.from({ length: short }, (_, index) => index * count + block);
    // The longer blocks come last, and only they take part in the last turn.
    if (block >= longFrom) data.push(short * count + block - longFrom);
    const correction = Array.from({ length: corrections }, (_, index) => dataTotal + index * count + block);
    return { places: [...data, ...correction], dataCount: data.length };
  });
}

/**
 * The modules of every codeword, highest bit first, as indices into a code of `size` × `size` modules. They run in
 * columns of two from the right, upwards and downwards in turn, around what is `reserved` for patterns.
 */
export function modulesOfCodewords(size: number, reserved: Uint8Array): number[][] {
  const free: number[] = [];
  let isUpwards = true;
  for (let right = size - 1; right > 0; right -= 2) {
    // The vertical timing pattern fills this column.
    if (right === 6) right--;
    for (let step = 0; step < size; step++) {
      const row: number = isUpwards ? size - 1 - step : step;
      for (const column of [right, right - 1]) {
        const module = row * size + column;
        if (reserved[module] === 0) free.push(module);
      }
    }
    isUpwards = !isUpwards;
  }
  return Array.from({ length: Math.floor(free.length / 8) }, (_, index) =>
    free.slice(index * 8, index * 8 + 8),
  );
}

const masks: readonly ((row: number, column: number) => boolean)[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
  (row, column) => (((row * column) % 3) + ((row + column) % 2)) % 2 === 0,
];

/** 1 where a mask pattern (0 to 7) inverts a module. */
export function maskBit(pattern: number, size: number, module: number): number {
  return masks[pattern]?.(Math.floor(module / size), module % size) === true ? 1 : 0;
}

function entry(table: string, version: number): number {
  return Number(table.split(" ")[version - 1]);
}
