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
  const length = to - from;
  ensure(writer, length);
  // A copy by the runtime takes as long as about thirty bytes.
  if (length > 30) bytes.copy(writer.bytes, writer.length, from, to);
  else for (let at = 0; at < length; at++) writer.bytes[writer.length + at] = bytes[from + at] ?? 0;
  writer.length += length;
}

export function writeLiteral(writer: ByteWriter, literal: Buffer): void {
  writeBytes(writer, literal, 0, literal.length);
}

/** Writes a whole number. */
export function writeWhole(writer: ByteWriter, value: number): void {
  if (value < 0 || value > 9) {
    writeText(writer, String(value));
    return;
  }
  ensure(writer, 1);
  writer.bytes[writer.length++] = 48 + value;
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

/** The day of the last time that was written, and its text: times of events follow each other closely. */
let lastDay = Number.NaN;
let lastText = Buffer.alloc(0);

const dayMs = 86_400_000;

/** Writes a time as messages have it in JSON: without milliseconds when there are none. */
export function writeTime(writer: ByteWriter, ms: number): void {
  const day = Math.floor(ms / dayMs);
  const rest = ms - dayMs * day;
  if (day !== lastDay) {
    lastDay = day;
    lastText = Buffer.from(`${new Date(ms).toISOString().slice(0, 10)}T`);
  }
  writeLiteral(writer, lastText);
  ensure(writer, 13);
  writeDigits(writer, Math.floor(rest / 3_600_000), 58);
  writeDigits(writer, Math.floor(rest / 60_000) % 60, 58);
  const milliseconds = Math.floor(rest % 1_000);
  writeDigits(writer, Math.floor(rest / 1_000) % 60, milliseconds > 0 ? 46 : 90);
  if (milliseconds === 0) return;
  writer.bytes[writer.length++] = 48 + Math.floor(milliseconds / 100);
  writeDigits(writer, milliseconds % 100, 90);
}

/** Writes a number below 100 and the sign after it, for which there is room. */
function writeDigits(writer: ByteWriter, value: number, sign: number): void {
  writer.bytes[writer.length++] = 48 + Math.floor(value / 10);
  writer.bytes[writer.length++] = 48 + (value % 10);
  writer.bytes[writer.length++] = sign;
}
