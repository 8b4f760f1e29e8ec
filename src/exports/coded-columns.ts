import { byteWriter, writeId } from "./byte-writer.ts";
import { constantOf, type ExportColumn } from "./columns.ts";
import type { Portion } from "./portions.ts";
import { booleanAt, idAt, numberAt, type RawRows, textAt, timeAt } from "./raw-rows.ts";

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
  const { place } = column;
  const read = readerOf(column, none);
  const known = new Map<Value, number>();
  const codes = new Uint32Array(rows.count);
  for (let row = 0; row < rows.count; row++) {
    const index = row * rows.width + place;
    const value = rows.lengths[index] === -1 ? none : read(rows, index);
    let code = known.get(value);
    if (code === undefined) {
      code = known.size;
      known.set(value, code);
    }
    codes[row] = code;
  }
  const values = [...known.keys()];
  return { dictionary: isLong(column) ? values.map((value) => BigInt(value)) : values, codes };
}

/** Whether Parquet takes big integers. */
function isLong({ kind }: ExportColumn): boolean {
  return kind === "time" || kind === "whole";
}

/** Reads a value as it is told from others: numbers are quicker than big integers. */
function readerOf({ kind, labels }: ExportColumn, none: Value): (rows: RawRows, index: number) => Value {
  switch (kind) {
    case "id":
      return idAt;
    case "time":
      return timeAt;
    case "label":
      return (rows, index) => labels.get(textAt(rows, index)) ?? none;
    case "text":
      return textAt;
    default:
      return numberAt;
  }
}

/** What stands for nothing; for a constant its value. */
function noneOf(column: ExportColumn, workspaceId: string): Value {
  if (column.of !== "constant" && column.kind === "time") return 0n;
  if (column.of !== "constant" && column.kind === "label") return column.labels.get("") ?? "";
  const value = constantOf(column, workspaceId);
  if (typeof value !== "number") return String(value);
  return isLong(column) ? BigInt(value) : value;
}

/** The values of a column of ids or of booleans, one by one. */
export function plainColumn(column: ExportColumn, { events }: Portion): unknown[] {
  const { place } = column;
  if (column.kind === "boolean") {
    if (column.of === "constant") return new Array(events.count).fill(false);
    return Array.from({ length: events.count }, (_, row) => booleanAt(events, row * events.width + place));
  }
  const writer = byteWriter(events.count * 36);
  return Array.from({ length: events.count }, (_, row) => {
    const index = row * events.width + place;
    const from = writer.length;
    if (events.lengths[index] !== -1) writeId(writer, events.bytes, events.starts[index] ?? 0);
    return writer.bytes.subarray(from, writer.length);
  });
}
