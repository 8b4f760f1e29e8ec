/**
 * The bytes of columns before they are compressed. A column of numbers is its width, then its numbers plane by plane: all
 * lowest bytes, then all next ones. Numbers that are near to each other differ in few planes, so the others vanish when
 * they are compressed. Everything is little-endian.
 */

/** Bytes that cannot be a column. */
export class BrokenColumn extends Error {
  override readonly name = "BrokenColumn";
}

export type Whole = Uint8Array | Uint16Array | Uint32Array;

const float = 8;

/** The narrowest width, in bytes, that holds all numbers up to `greatest`. */
function widthOf(greatest: number): 1 | 2 | 4 {
  if (greatest <= 0xff) return 1;
  return greatest <= 0xffff ? 2 : 4;
}

/** An array for whole numbers up to `greatest`. */
export function wholeNumbers(greatest: number, length: number): Whole {
  const width = widthOf(greatest);
  if (width === 1) return new Uint8Array(length);
  return width === 2 ? new Uint16Array(length) : new Uint32Array(length);
}

export function greatestOf(numbers: ArrayLike<number>): number {
  let greatest = 0;
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers[row] ?? 0;
    if (number > greatest) greatest = number;
  }
  return greatest;
}

export function encodeNumbers(numbers: Whole | Float64Array): Buffer {
  if (numbers instanceof Float64Array) return planesOf(new Uint8Array(numbers.slice().buffer), float);
  const narrow = wholeNumbers(greatestOf(numbers), numbers.length);
  narrow.set(numbers);
  return planesOf(new Uint8Array(narrow.buffer), narrow.BYTES_PER_ELEMENT);
}

/** Times never fall, so what is kept are the distances between them. */
export function encodeTimes(times: Uint32Array): Buffer {
  const distances = new Uint32Array(times.length);
  for (let row = 0; row < times.length; row++) distances[row] = (times[row] ?? 0) - (times[row - 1] ?? 0);
  return encodeNumbers(distances);
}

/** The values of a column of texts: how many, then each with its length before it. */
export function encodeTexts(values: readonly string[]): Buffer {
  const texts = values.map((value) => Buffer.from(value));
  const parts = texts.flatMap((text) => [uint32(text.length), text]);
  return Buffer.concat([uint32(texts.length), ...parts]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** How many bytes a column of so many numbers takes at most. */
export function numberBytesMax(rows: number): number {
  return 1 + float * rows;
}

export function decodeNumbers(bytes: Buffer, rows: number): Whole | Float64Array {
  const width = bytes[0];
  if (bytes.length !== 1 + (width ?? 0) * rows)
    throw new BrokenColumn(`${bytes.length} bytes for ${rows} rows`);
  const { buffer } = rowsOf(bytes.subarray(1), rows, width ?? 0);
  if (width === 1) return new Uint8Array(buffer);
  if (width === 2) return new Uint16Array(buffer);
  if (width === 4) return new Uint32Array(buffer);
  if (width === float) return new Float64Array(buffer);
  throw new BrokenColumn(`numbers of ${width} bytes`);
}

export function decodeTimes(bytes: Buffer, rows: number): Uint32Array {
  const distances = decodeNumbers(bytes, rows);
  const times = new Uint32Array(rows);
  let time = 0;
  for (let row = 0; row < rows; row++) {
    time += distances[row] ?? 0;
    times[row] = time;
  }
  if (!(time <= 0xffff_ffff)) throw new BrokenColumn("times beyond 49 days");
  return times;
}

export interface DecodedTexts {
  readonly values: string[];
  /** The bytes behind the texts. */
  readonly rest: Buffer;
}

/** Decodes texts, of which there are at most `countMax`. */
export function decodeTexts(bytes: Buffer, countMax: number): DecodedTexts {
  const lengthAt = (at: number) => {
    if (at + 4 > bytes.length) throw new BrokenColumn("texts that are cut off");
    return bytes.readUInt32LE(at);
  };
  const count = lengthAt(0);
  if (count > countMax) throw new BrokenColumn(`${count} values for ${countMax} rows`);
  const values: string[] = [];
  let at = 4;
  for (let index = 0; index < count; index++) {
    const end = at + 4 + lengthAt(at);
    if (end > bytes.length) throw new BrokenColumn("texts that are cut off");
    values.push(bytes.toString("utf8", at + 4, end));
    at = end;
  }
  return { values, rest: bytes.subarray(at) };
}

function planesOf(numbers: Uint8Array, width: number): Buffer {
  const rows = numbers.length / width;
  const planes = Buffer.allocUnsafe(1 + numbers.length);
  planes[0] = width;
  let at = 1;
  for (let plane = 0; plane < width; plane++)
    for (let row = 0; row < rows; row++) planes[at++] = numbers[row * width + plane] ?? 0;
  return planes;
}

function rowsOf(planes: Uint8Array, rows: number, width: number): Uint8Array<ArrayBuffer> {
  const numbers = new Uint8Array(planes.length);
  if (width === 1) numbers.set(planes);
  else
    for (let plane = 0; plane < width; plane++) {
      const from = plane * rows;
      for (let row = 0; row < rows; row++) numbers[row * width + plane] = planes[from + row] ?? 0;
    }
  return numbers;
}
