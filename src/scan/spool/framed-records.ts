/*
 * Records lie in a chunk of the spool one after the other. Each has 16 bytes of id, the length of its own text, the
 * number of the text that it shares with other records of the chunk (0 for none), both as 32 bits little-endian, and
 * its own text. Behind the first record that shares a text come the length of that text and the text itself.
 */

/**
 * What is recorded: the record's own text, and behind it a text that many records share. `shared` is empty when there
 * is none.
 */
export interface RecordText {
  readonly own: string;
  readonly shared: string;
}

/** A record as it comes out of the spool. */
export interface RawRecord {
  readonly id: Uint8Array;
  readonly own: Uint8Array;
  /** The same object for all records of the chunk that share it; undefined for none. */
  readonly shared: Uint8Array | undefined;
}

export const idLength = 16;
const headerLength = idLength + 4 + 4;

/** How many bytes a record takes at most. */
export function framedLength({ own, shared }: RecordText): number {
  const ownLength = headerLength + Buffer.byteLength(own);
  return shared === "" ? ownLength : ownLength + 4 + Buffer.byteLength(shared);
}

/** A chunk that is being written. */
export interface Frame {
  add(id: Uint8Array, text: RecordText): void;
  /** The length of all records so far, in bytes. */
  length(): number;
}

/** Writes the records of a chunk, in UTF-8, from the start of a buffer on. */
export function frameInto(buffer: Buffer): Frame {
  let known: Map<string, number> | undefined;
  let end = 0;
  return {
    add(id, { own, shared }) {
      const count = known?.size ?? 0;
      const number = shared === "" ? 0 : (known?.get(shared) ?? count + 1);
      buffer.set(id, end);
      buffer.writeUInt32LE(number, end + idLength + 4);
      end = writeText(buffer, own, end + idLength, end + headerLength);
      if (number <= count) return;
      known ??= new Map();
      known.set(shared, number);
      end = writeText(buffer, shared, end, end + 4);
    },
    length: () => end,
  };
}

/** Writes a text and its length, and gives the offset behind the text. */
function writeText(into: Buffer, text: string, lengthAt: number, textAt: number): number {
  const length = into.write(text, textAt);
  into.writeUInt32LE(length, lengthAt);
  return textAt + length;
}

/** The records of a chunk, which share its memory. Throws for a damaged chunk. */
export function unframe(chunk: Uint8Array): RawRecord[] {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  const texts: Uint8Array[] = [];
  const records: RawRecord[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const id = bytes.subarray(offset, offset + idLength);
    const start = offset + headerLength;
    const number = bytes.readUInt32LE(offset + idLength + 4);
    offset = start + bytes.readUInt32LE(offset + idLength);
    const own = bytes.subarray(start, offset);
    if (number === texts.length + 1) {
      const end = offset + 4 + bytes.readUInt32LE(offset);
      texts.push(bytes.subarray(offset + 4, end));
      offset = end;
    }
    records.push({ id, own, shared: texts[number - 1] });
  }
  return records;
}

/** The text of a record. PostgreSQL keeps no NUL in texts. A backslash that is escaped itself is no beginning of one. */
export function textOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return text.includes("\\u0000") ? text.replaceAll(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1") : text;
}
