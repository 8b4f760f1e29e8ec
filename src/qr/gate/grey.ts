import type { Painting } from "./conditions.ts";

/** One byte a pixel: 255 is white. */
export interface Grey {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** 1 is dark. */
export interface Bits {
  readonly dark: Uint8Array;
  readonly width: number;
  readonly height: number;
}

export function greyOf({ data, info: { width, height } }: Painting): Grey {
  const grey = new Uint8Array(width * height);
  for (let pixel = 0, byte = 0; pixel < grey.length; pixel++, byte += 3)
    grey[pixel] = Math.round(
      0.299 * (data[byte] ?? 0) + 0.587 * (data[byte + 1] ?? 0) + 0.114 * (data[byte + 2] ?? 0),
    );
  return { data: grey, width, height };
}

/** Makes the shorter side `side` pixels long, to the byte as OpenCV does. */
export function resized(grey: Grey, side: number): Grey {
  const shorter = Math.min(grey.width, grey.height);
  if (shorter === side) return grey;
  const [width = 0, height = 0] = [grey.width, grey.height].map((one) => Math.round((one * side) / shorter));
  return shorter > side ? shrunk(grey, width, height) : enlarged(grey, width, height);
}

/** Every pixel is the mean of the area that it covers. */
function shrunk({ data, width: from, height: rows }: Grey, width: number, height: number): Grey {
  const [columns, lines] = [covered(from, width), covered(rows, height)];
  const result = new Uint8Array(width * height);
  const line = new Float64Array(from);
  for (let y = 0; y < height; y++) {
    line.fill(0);
    for (const { place, part } of lines[y] ?? [])
      for (let x = 0; x < from; x++) line[x] = (line[x] ?? 0) + (data[place * from + x] ?? 0) * part;
    for (let x = 0; x < width; x++) {
      let sum = 0;
      for (const { place, part } of columns[x] ?? []) sum += (line[place] ?? 0) * part;
      result[y * width + x] = Math.round(sum);
    }
  }
  return { data: result, width, height };
}

/** Which of `from` pixels each of `to` pixels covers, and which part of it each of them makes. */
function covered(from: number, to: number): { readonly place: number; readonly part: number }[][] {
  const factor = from / to;
  return Array.from({ length: to }, (_, index) => {
    const [start, end] = [index * factor, Math.min(from, (index + 1) * factor)];
    const first = Math.floor(start);
    return Array.from({ length: Math.ceil(end) - first }, (_, offset) => {
      const place = first + offset;
      return { place, part: (Math.min(place + 1, end) - Math.max(place, start)) / factor };
    });
  });
}

/** Every pixel is mixed from the four that are nearest, with parts of 1/256. */
function enlarged({ data, width: from, height: rows }: Grey, width: number, height: number): Grey {
  const [columns, lines] = [nearest(from, width), nearest(rows, height)];
  const result = new Uint8Array(width * height);
  for (const [y, { before, after, part }] of lines.entries()) {
    for (const [x, column] of columns.entries()) {
      const mixed = (row: number) =>
        (data[row * from + column.before] ?? 0) * (256 - column.part) +
        (data[row * from + column.after] ?? 0) * column.part;
      result[y * width + x] = (mixed(before) * (256 - part) + mixed(after) * part + 32_768) >> 16;
    }
  }
  return { data: result, width, height };
}

/** The two of `from` pixels that are nearest to each of `to` pixels, and how many 256ths the second one makes. */
function nearest(from: number, to: number) {
  return Array.from({ length: to }, (_, index) => {
    const place = Math.min(from - 1, Math.max(0, ((index + 0.5) * from) / to - 0.5));
    const before = Math.floor(place);
    return {
      before,
      after: Math.min(from - 1, before + 1),
      // A half is rounded down.
      part: Math.ceil((place - before) * 256 - 0.5),
    };
  });
}
