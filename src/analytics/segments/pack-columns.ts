import { promisify } from "node:util";
import { zstdCompress, zstdDecompressSync } from "node:zlib";
import {
  BrokenColumn,
  decodeNumbers,
  decodeTexts,
  decodeTimes,
  encodeNumbers,
  encodeTexts,
  encodeTimes,
  numberBytesMax,
  uint32,
  type Whole,
} from "./column-bytes.ts";
import type { Coded, ColumnName, Columns, Numbers, VisitColumns } from "./columns.ts";

/** How many visits a segment has at most, and how long the texts of a column are together, in bytes. */
const rowsMax = 1_048_576;
const textBytesMax = 64 * 1024 * 1024;

/** How much memory is reserved at a time while a column is unpacked. */
const chunkBytesMax = 4 * 1024 * 1024;

/** The first byte of a packed column says how the others are to be read. */
const format = 1;
const headerBytes = 5;

interface Coding<Column> {
  readonly encode: (column: Column) => Buffer;
  readonly decode: (bytes: Buffer, rows: number) => Column;
  readonly bytesMax: (rows: number) => number;
}

const numbers: Coding<Numbers> = {
  encode: encodeNumbers,
  decode(bytes, rows) {
    const decoded = decodeNumbers(bytes, rows);
    return decoded instanceof Float64Array ? decoded : Uint32Array.from(decoded);
  },
  bytesMax: numberBytesMax,
};

const flags: Coding<Uint8Array> = {
  encode: encodeNumbers,
  decode(bytes, rows) {
    const decoded = decodeNumbers(bytes, rows);
    if (!(decoded instanceof Uint8Array)) throw new BrokenColumn("numbers that are too great");
    return decoded;
  },
  bytesMax: numberBytesMax,
};

const times: Coding<Uint32Array> = { encode: encodeTimes, decode: decodeTimes, bytesMax: numberBytesMax };

const texts: Coding<Coded> = {
  encode: ({ values, codes }) => Buffer.concat([encodeTexts(values), encodeNumbers(codes)]),
  decode(bytes, rows) {
    const { values, rest } = decodeTexts(bytes, rows);
    const codes = decodeNumbers(rest, rows);
    if (codes instanceof Float64Array || !areBelow(codes, values.length))
      throw new BrokenColumn("codes without a value");
    return { values, codes };
  },
  bytesMax: (rows) => textBytesMax + numberBytesMax(rows),
};

function areBelow(codes: Whole, count: number): boolean {
  for (let row = 0; row < codes.length; row++) if ((codes[row] ?? 0) >= count) return false;
  return true;
}

const codings: { readonly [Name in ColumnName]: Coding<VisitColumns[Name]> } = {
  times,
  links: texts,
  visitors: numbers,
  devices: numbers,
  visitType: texts,
  deviceType: texts,
  country: texts,
  city: texts,
  browser: texts,
  platform: texts,
  completed: flags,
  scores: flags,
  ways: texts,
};

/** All columns, in the order in which they are stored. */
export const columnNames = Object.keys(codings) as readonly ColumnName[];

export type PackedColumns = Readonly<Record<ColumnName, Buffer>>;

const compress = promisify(zstdCompress);

/** Packs columns, each by itself. They are compressed outside of the main thread. */
export async function packColumns(columns: VisitColumns): Promise<PackedColumns> {
  const pack = async <Name extends ColumnName>(name: Name) => {
    const plain = codings[name].encode(columns[name]);
    return [name, Buffer.concat([Buffer.of(format), uint32(plain.length), await compress(plain)])] as const;
  };
  // Every name of a column has an entry, which the type of the entries does not say.
  return Object.fromEntries(await Promise.all(columnNames.map(pack))) as PackedColumns;
}

/**
 * Unpacks a column of a segment with so many visits. Throws `BrokenColumn` for bytes that are no such column. Reserves no
 * more memory than such a column can need, whatever the bytes say.
 */
export function unpackColumn<Name extends ColumnName>(
  name: Name,
  bytes: Buffer,
  visits: number,
): VisitColumns[Name] {
  const fail = (why: string, cause?: unknown) =>
    new BrokenColumn(`the column ${name} of a segment is broken (${why}): seal the segment again`, { cause });
  const coding = codings[name];
  if (!(visits >= 0 && visits <= rowsMax)) throw fail(`${visits} visits`);
  if (bytes.length < headerBytes || bytes[0] !== format) throw fail(`format ${bytes[0]}`);
  const length = bytes.readUInt32LE(1);
  if (length > coding.bytesMax(visits)) throw fail(`${length} bytes for ${visits} visits`);
  try {
    const plain = zstdDecompressSync(bytes.subarray(headerBytes), {
      maxOutputLength: Math.max(1, length),
      chunkSize: Math.min(Math.max(64, length), chunkBytesMax),
    });
    if (plain.length !== length) throw new BrokenColumn(`${plain.length} bytes instead of ${length}`);
    return coding.decode(plain, visits);
  } catch (error) {
    throw fail(error instanceof Error ? error.message : "unreadable", error);
  }
}

/** Unpacks the columns that are given. */
export function unpackColumns<Name extends ColumnName>(
  packed: Readonly<Record<Name, Buffer>>,
  visits: number,
): Columns<Name> {
  const names = Object.keys(packed) as Name[];
  const entries = names.map((name) => [name, unpackColumn(name, packed[name], visits)] as const);
  return Object.fromEntries(entries) as Columns<Name>;
}
