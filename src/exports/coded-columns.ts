import { byteWriter, writeId } from "./byte-writer.ts";
import { constantOf, type ExportColumn } from "./columns.ts";
import type { Portion } from "./portions.ts";
import { booleanAt, doubleAt, idAt, numberAt, type RawRows, textAt, timeAt } from "./raw-rows.ts";

/** A value of Parquet: a text, a number, or a time in milliseconds. */
type Value = string | number | bigint;

/** The value of each row is `dictionary[codes[row]]`. */
export interface CodedColumn {
  readonly dictionary: readonly Value[];
  readonly codes: Uint32Array;
}

/** The values of a column for the events of a portion. Those of devices are read once for each device. */
export function codedColumn(
  column: ExportColumn,
  { events, devices, deviceOf }: Portion,
  workspaceId: string,
): CodedColumn {
  const none = noneOf(column, workspaceId);
  if (column.of === "constant") return { dictionary: [none], codes: new Uint32Array(events.count) };
  if (column.of === "event") return codesOf(column, events, none);
  const { dictionary, codes } = codesOf(column, devices, none);
  // Events without a device have a code of their own.
  const expanded = new Uint32Array(events.count);
  for (let row = 0; row < events.count; row++)
    expanded[row] = codes[deviceOf[row] ?? -1] ?? dictionary.length;
  return { dictionary: [...dictionary, none], codes: expanded };
}

function codesOf(column: ExportColumn, rows: RawRows, none: Value): CodedColumn {
  const read = readerOf(column);
  const codeAt = column.kind === "text" ? textCoder() : bytesCoder(rows.count);
  const values: Value[] = [];
  const codes = new Uint32Array(rows.count);
  for (let row = 0; row < rows.count; row++) {
    const index = row * rows.width + column.place;
    const code = codeAt(rows, index);
    if (code === values.length) values.push(rows.lengths[index] === -1 ? none : (read(rows, index) ?? none));
    codes[row] = code;
  }
  return { dictionary: values, codes };
}

/** Numbers fields by what they hold, from 0 on in the order of their first row. */
type Coder = (rows: RawRows, index: number) => number;

/** For texts, which strangers choose: the runtime's own maps are hard to slow down by chosen keys. */
function textCoder(): Coder {
  const known = new Map<string | undefined, number>();
  return (rows, index) => {
    const text = rows.lengths[index] === -1 ? undefined : textAt(rows, index);
    const found = known.get(text);
    if (found !== undefined) return found;
    known.set(text, known.size);
    return known.size - 1;
  };
}

/** For short fields that the service itself fills, without making a value of each. */
function bytesCoder(rowsMax: number): Coder {
  const mask = 2 ** Math.ceil(Math.log2(2 * rowsMax + 1)) - 1;
  const codes = new Int32Array(mask + 1).fill(-1);
  /** A field with the value of the slot's code. */
  const examples = new Int32Array(mask + 1);
  let count = 0;
  return (rows, index) => {
    let slot = hashOf(rows, index) & mask;
    while (codes[slot] !== -1 && !isEqual(rows, index, examples[slot] ?? 0)) slot = (slot + 1) & mask;
    if (codes[slot] === -1) {
      codes[slot] = count++;
      examples[slot] = index;
    }
    return codes[slot] ?? 0;
  };
}

function hashOf({ bytes, starts, lengths }: RawRows, index: number): number {
  const from = starts[index] ?? 0;
  const to = from + (lengths[index] ?? 0);
  let hash = 0;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}

function isEqual({ bytes, starts, lengths }: RawRows, one: number, other: number): boolean {
  const length = lengths[one] ?? 0;
  if (length !== lengths[other]) return false;
  const [from, otherFrom] = [starts[one] ?? 0, starts[other] ?? 0];
  for (let at = 0; at < length; at++) if (bytes[from + at] !== bytes[otherFrom + at]) return false;
  return true;
}

/** Reads a value as Parquet takes it; undefined for a label that has no name. */
function readerOf({ kind, labels }: ExportColumn): (rows: RawRows, index: number) => Value | undefined {
  switch (kind) {
    case "id":
      return idAt;
    case "time":
      return (rows, index) => BigInt(Math.floor(timeAt(rows, index)));
    case "whole":
      return (rows, index) => BigInt(numberAt(rows, index));
    case "label":
      return (rows, index) => labels.get(textAt(rows, index));
    case "text":
      return textAt;
    default:
      return doubleAt;
  }
}

/** What stands for nothing; for a constant its value. */
function noneOf(column: ExportColumn, workspaceId: string): Value {
  if (column.of !== "constant" && column.kind === "time") return 0n;
  if (column.of !== "constant" && column.kind === "label") return column.labels.get("") ?? "";
  const value = constantOf(column, workspaceId);
  if (typeof value !== "number") return String(value);
  return column.kind === "number" ? value : BigInt(value);
}

/** The values of a column of ids or of booleans, one by one. */
export function plainColumn(column: ExportColumn, { events, devices, deviceOf }: Portion): unknown[] {
  const { place } = column;
  if (column.kind === "boolean") {
    if (column.of === "constant") return new Array(events.count).fill(false);
    if (column.of === "event")
      return Array.from({ length: events.count }, (_, row) => booleanAt(events, row * events.width + place));
    return Array.from(deviceOf, (row) => row !== -1 && booleanAt(devices, row * devices.width + place));
  }
  const writer = byteWriter(events.count * 36);
  return Array.from({ length: events.count }, (_, row) => {
    const index = row * events.width + place;
    const from = writer.length;
    if (events.lengths[index] !== -1) writeId(writer, events.bytes, events.starts[index] ?? 0);
    return writer.bytes.subarray(from, writer.length);
  });
}
