/*
 * How records lie in a chunk of the spool, one after the other: 16 bytes of id, the length of the rest as 32 bits
 * little-endian, and the rest.
 */

/** A record as it comes out of the spool. */
export interface RawRecord {
  readonly id: Uint8Array;
  readonly bytes: Uint8Array;
}

export const idLength = 16;
const headerLength = idLength + 4;

/** How many bytes a record of this text takes. */
export function framedLength(text: string): number {
  return headerLength + Buffer.byteLength(text);
}

/** Writes a record in UTF-8 and gives the offset behind it. */
export function frame(into: Buffer, offset: number, id: Uint8Array, text: string): number {
  into.set(id, offset);
  const length = into.write(text, offset + headerLength);
  into.writeUInt32LE(length, offset + idLength);
  return offset + headerLength + length;
}

/** The records of a chunk; they share its memory. Throws for a chunk that is damaged. */
export function unframe(chunk: Uint8Array): RawRecord[] {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  const records: RawRecord[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const start = offset + headerLength;
    const end = start + bytes.readUInt32LE(offset + idLength);
    records.push({ id: bytes.subarray(offset, offset + idLength), bytes: bytes.subarray(start, end) });
    offset = end;
  }
  return records;
}
