/**
 * Rows as PostgreSQL sends them in COPY's binary format. Field `column` of row `row` are the `lengths[i]` bytes from
 * `starts[i]` on, where i is `row * width + column`; a length of -1 is null.
 */
export interface RawRows {
  readonly count: number;
  readonly width: number;
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
  readonly lengths: Int32Array;
}

/** The signature, the flags, and the length of what follows them in the header. */
const headerBytes = 19;

/** Finds the fields of rows in everything that one COPY has sent, or in its first `bytes.length` bytes. */
export function readRows(bytes: Buffer, width: number, rowsMax: number): RawRows {
  const starts = new Uint32Array(rowsMax * width);
  const lengths = new Int32Array(rowsMax * width);
  let at = headerBytes;
  let count = 0;
  while (count < rowsMax && at + 2 <= bytes.length) {
    // The last row is followed by the width -1.
    if (bytes.readInt16BE(at) !== width) break;
    const end = readRow(bytes, at + 2, { starts, lengths, first: count * width, width });
    if (end === undefined) break;
    at = end;
    count++;
  }
  return { count, width, bytes, starts, lengths };
}

interface RowPlace {
  readonly starts: Uint32Array;
  readonly lengths: Int32Array;
  readonly first: number;
  readonly width: number;
}

/** Notes the fields of one row, and gives where it ends; undefined when the bytes end before. */
function readRow(
  bytes: Buffer,
  from: number,
  { starts, lengths, first, width }: RowPlace,
): number | undefined {
  let at = from;
  for (let column = 0; column < width; column++) {
    if (at + 4 > bytes.length) return undefined;
    const length =
      ((bytes[at] ?? 0) << 24) |
      ((bytes[at + 1] ?? 0) << 16) |
      ((bytes[at + 2] ?? 0) << 8) |
      (bytes[at + 3] ?? 0);
    at += 4;
    starts[first + column] = at;
    lengths[first + column] = length;
    if (length > 0) at += length;
    if (at > bytes.length) return undefined;
  }
  return at;
}

/** The milliseconds from 1970 to 2000, where PostgreSQL's times begin. */
const epochMs = 946_684_800_000;

/** A time in milliseconds since 1970. */
export function timeAt({ bytes, starts }: RawRows, index: number): number {
  const at = starts[index] ?? 0;
  return epochMs + (bytes.readInt32BE(at) * 4_294_967_296 + bytes.readUInt32BE(at + 4)) / 1_000;
}

/** A whole number of two, four or eight bytes. */
export function numberAt({ bytes, starts, lengths }: RawRows, index: number): number {
  const at = starts[index] ?? 0;
  if (lengths[index] === 2) return bytes.readInt16BE(at);
  if (lengths[index] === 4) return bytes.readInt32BE(at);
  return bytes.readInt32BE(at) * 4_294_967_296 + bytes.readUInt32BE(at + 4);
}

/** A number of eight bytes that need not be whole. */
export function doubleAt({ bytes, starts }: RawRows, index: number): number {
  return bytes.readDoubleBE(starts[index] ?? 0);
}

export function booleanAt({ bytes, starts }: RawRows, index: number): boolean {
  return bytes[starts[index] ?? 0] === 1;
}

export function textAt({ bytes, starts, lengths }: RawRows, index: number): string {
  const at = starts[index] ?? 0;
  return bytes.toString("utf8", at, at + Math.max(0, lengths[index] ?? 0));
}

export function idAt({ bytes, starts }: RawRows, index: number): string {
  const at = starts[index] ?? 0;
  const hex = bytes.toString("hex", at, at + 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Finds which of a few known texts a field holds; undefined when it holds none of them. Makes no text of the field. */
export function knownText<Value>(
  known: ReadonlyMap<string, Value>,
): (rows: RawRows, index: number) => Value | undefined {
  const byLength: { readonly bytes: Buffer; readonly value: Value }[][] = [];
  for (const [text, value] of known) {
    const bytes = Buffer.from(text);
    byLength[bytes.length] ??= [];
    byLength[bytes.length]?.push({ bytes, value });
  }
  return ({ bytes, starts, lengths }, index) => {
    const from = starts[index] ?? 0;
    for (const each of byLength[lengths[index] ?? 0] ?? [])
      if (isAt(bytes, from, each.bytes)) return each.value;
    return undefined;
  };
}

function isAt(bytes: Buffer, from: number, wanted: Buffer): boolean {
  for (let at = wanted.length - 1; at >= 0; at--) if (bytes[from + at] !== wanted[at]) return false;
  return true;
}
