/** Bytes that grow at their end. */
export interface ByteWriter {
  bytes: Buffer;
  length: number;
}

export function byteWriter(size: number): ByteWriter {
  return { bytes: Buffer.allocUnsafe(size), length: 0 };
}

/** Makes room for some more bytes. */
export function ensure(writer: ByteWriter, more: number): void {
  if (writer.length + more <= writer.bytes.length) return;
  const longer = Buffer.allocUnsafe(Math.max(2 * writer.bytes.length, writer.length + more));
  writer.bytes.copy(longer, 0, 0, writer.length);
  writer.bytes = longer;
}

export function writeText(writer: ByteWriter, text: string): void {
  ensure(writer, 3 * text.length);
  writer.length += writer.bytes.write(text, writer.length);
}

export function writeBytes(writer: ByteWriter, bytes: Buffer, from: number, to: number): void {
  ensure(writer, to - from);
  bytes.copy(writer.bytes, writer.length, from, to);
  writer.length += to - from;
}

/** Writes a few bytes. */
export function writeLiteral(writer: ByteWriter, literal: Buffer): void {
  const { length } = literal;
  ensure(writer, length);
  // A copy by the runtime takes as long as about thirty bytes.
  if (length > 30) literal.copy(writer.bytes, writer.length);
  else for (let at = 0; at < length; at++) writer.bytes[writer.length + at] = literal[at] ?? 0;
  writer.length += length;
}

const digits = Buffer.from("0123456789abcdef");

/** Writes the text of an id of 16 bytes. */
export function writeId(writer: ByteWriter, id: Buffer, from: number): void {
  ensure(writer, 36);
  const { bytes } = writer;
  let at = writer.length;
  for (let byte = 0; byte < 16; byte++) {
    if (byte === 4 || byte === 6 || byte === 8 || byte === 10) bytes[at++] = 45;
    const value = id[from + byte] ?? 0;
    bytes[at++] = digits[value >> 4] ?? 0;
    bytes[at++] = digits[value & 15] ?? 0;
  }
  writer.length = at;
}

/** The last second that was written: times of events follow each other closely. */
let lastSecond = Number.NaN;
let lastText = Buffer.alloc(0);

/** Writes a time as messages have it in JSON: without milliseconds when there are none. */
export function writeTime(writer: ByteWriter, ms: number): void {
  const second = Math.floor(ms / 1_000);
  const rest = ms - 1_000 * second;
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = Buffer.from(new Date(ms).toISOString().slice(0, 19));
  }
  writeLiteral(writer, lastText);
  ensure(writer, 5);
  const { bytes } = writer;
  if (rest > 0) {
    bytes[writer.length++] = 46;
    bytes[writer.length++] = 48 + Math.floor(rest / 100);
    bytes[writer.length++] = 48 + (Math.floor(rest / 10) % 10);
    bytes[writer.length++] = 48 + (rest % 10);
  }
  bytes[writer.length++] = 90;
}
