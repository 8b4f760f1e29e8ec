import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { StoredAttribute } from "../../model/visitors/attribute-operators.ts";
import { bytesOfIds } from "./id-bytes.ts";
import type { Profile } from "./profile.ts";

/*
 * A page of visitors, by column. Rows are in the order of ids. A column keeps its bytes in blocks, each behind its
 * length, compressed together.
 */

/** The name of each column. A column of visits is made again more often than the others, and has a version. */
export const columnNames = {
  head: "head",
  text: "text",
  links: "links",
  visits: (version: number | "") => `visits ${version}`,
  attribute: (key: string) => `attribute ${key}`,
} as const;

/** Bytes that cannot be a column of a page. */
export class BrokenPage extends Error {
  override readonly name = "BrokenPage";
}

/** How many visitors a page has at most: places fit two bytes. */
export const pageVisitorsMax = 8_192;

/** More than any column of a page takes, so that damaged bytes cannot fill the memory. */
const columnBytesMax = 1 << 28;

export interface Head {
  /** 16 bytes for each visitor. */
  readonly ids: Buffer;
  readonly createdMs: Float64Array;
  readonly linkCounts: Uint32Array;
  readonly deviceCounts: Uint32Array;
}

/** Which visitors have which of the values: entry i says that the visitor at `places[i]` has `values[codes[i]]`. */
export interface Entries<Value> {
  readonly values: readonly Value[];
  readonly places: Uint16Array;
  readonly codes: Uint32Array;
}

/** The searched text of visitors: the one at place i has the bytes from `starts[i]` to `starts[i + 1]`. */
export interface Texts {
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
}

export function encodeHead(profiles: readonly Profile[]): Buffer {
  return pack([
    bytesOfIds(profiles.map(({ id }) => id)),
    Float64Array.from(profiles, ({ createdMs }) => createdMs),
    Uint32Array.from(profiles, ({ links }) => links.length),
    Uint32Array.from(profiles, ({ deviceCount }) => deviceCount),
  ]);
}

export function decodeHead(bytes: Buffer): Head {
  const [ids = empty, created = empty, links = empty, devices = empty] = unpack(bytes);
  return {
    ids,
    createdMs: new Float64Array(aligned(created)),
    linkCounts: new Uint32Array(aligned(links)),
    deviceCounts: new Uint32Array(aligned(devices)),
  };
}

export function encodeCounts(counts: readonly number[]): Buffer {
  return pack([Float64Array.from(counts)]);
}

export function decodeCounts(bytes: Buffer): Float64Array {
  return new Float64Array(aligned(unpack(bytes)[0] ?? empty));
}

/** The entries of each attribute, by the name of its column. */
export function encodeAttributes(profiles: readonly Profile[]): Map<string, Buffer> {
  const found = new Map<string, ReturnType<typeof collector<StoredAttribute>>>();
  for (const [place, { attributes }] of profiles.entries())
    for (const [key, attribute] of attributes) {
      const column = found.get(key) ?? collector<StoredAttribute>();
      found.set(key, column);
      column.add(place, `${attribute.type} ${attribute.value}`, attribute);
    }
  return new Map([...found].map(([key, column]) => [columnNames.attribute(key), column.encoded()]));
}

export function encodeLinks(profiles: readonly Profile[]): Buffer {
  const column = collector<string>();
  for (const [place, { links }] of profiles.entries())
    for (const link of links) column.add(place, link, link);
  return column.encoded();
}

export function decodeEntries<Value>(bytes: Buffer): Entries<Value> {
  const [values = empty, steps = empty, codes = empty] = unpack(bytes);
  const places = new Uint16Array(aligned(steps));
  for (let index = 1; index < places.length; index++)
    places[index] = (places[index] ?? 0) + (places[index - 1] ?? 0);
  return { values: JSON.parse(values.toString()), places, codes: new Uint32Array(aligned(codes)) };
}

function collector<Value>() {
  const codeOf = new Map<string, number>();
  const values: Value[] = [];
  const steps: number[] = [];
  const codes: number[] = [];
  let last = 0;
  return {
    add(place: number, name: string, value: Value) {
      const code = codeOf.get(name) ?? values.push(value) - 1;
      codeOf.set(name, code);
      // Places are kept as differences, which are small.
      steps.push(place - last);
      codes.push(code);
      last = place;
    },
    encoded: () =>
      pack([Buffer.from(JSON.stringify(values)), Uint16Array.from(steps), Uint32Array.from(codes)]),
  };
}

export function encodeTexts(texts: readonly string[]): Buffer {
  const parts = texts.map((text) => Buffer.from(text));
  const starts = new Uint32Array(parts.length + 1);
  for (const [place, part] of parts.entries()) starts[place + 1] = (starts[place] ?? 0) + part.length;
  return pack([Buffer.concat(parts), starts]);
}

export function decodeTexts(bytes: Buffer): Texts {
  const [text = empty, starts = empty] = unpack(bytes);
  return { bytes: text, starts: new Uint32Array(aligned(starts)) };
}

const empty = Buffer.alloc(0);

function pack(blocks: readonly (Buffer | Uint16Array | Uint32Array | Float64Array)[]): Buffer {
  const parts = blocks.flatMap((block) => {
    const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return [length, bytes];
  });
  const plain = Buffer.concat(parts);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(plain.length);
  return Buffer.concat([length, zstdCompressSync(plain)]);
}

function unpack(bytes: Buffer): Buffer[] {
  const size = bytes.readUInt32LE();
  if (size > columnBytesMax) throw new BrokenPage(`a column has ${size} bytes`);
  const plain = zstdDecompressSync(bytes.subarray(4), { chunkSize: size + 64, maxOutputLength: size + 64 });
  if (plain.length !== size) throw new BrokenPage(`a column has ${plain.length} bytes instead of ${size}`);
  const blocks: Buffer[] = [];
  for (let at = 0; at < plain.length; ) {
    const end = at + 4 + plain.readUInt32LE(at);
    blocks.push(plain.subarray(at + 4, end));
    at = end;
  }
  return blocks;
}

/** The same bytes at the beginning of memory of their own, as arrays of numbers need them. */
function aligned(bytes: Buffer): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.length);
  new Uint8Array(copy).set(bytes);
  return copy;
}
