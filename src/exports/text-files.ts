import { setImmediate as nextTurn } from "node:timers/promises";
import { csvCell, csvLine } from "../lib/paging/csv.ts";
import {
  type ByteWriter,
  byteWriter,
  writeBytes,
  writeId,
  writeLiteral,
  writeText,
  writeTime,
  writeWhole,
} from "./byte-writer.ts";
import { constantOf, type ExportColumn, exportColumns } from "./columns.ts";
import type { FileFormat, FormatOptions } from "./file-format.ts";
import type { Portion } from "./portions.ts";
import { booleanAt, doubleAt, knownText, numberAt, type RawRows, textAt, timeAt } from "./raw-rows.ts";

/** How values become a line of text. */
interface LineStyle {
  /** What stands around texts. */
  readonly quoteBytes: Buffer;
  /** Bytes for which a text needs `cellOf`: at its beginning, and anywhere. */
  readonly unsafeFirst: Uint8Array;
  readonly unsafe: Uint8Array;
  /** The whole cell of a text. */
  readonly cellOf: (text: string) => string;
  /** What stands before and after a column. */
  readonly around: (column: ExportColumn, place: Place) => readonly [before: string, after: string];
  /** What stands for a device that is gone. */
  readonly noDevice: string;
  readonly lineEnd: string;
}

/** Where a column stands among all, and among those of its object. */
interface Place {
  readonly isFirst: boolean;
  readonly beginsObject: boolean;
  readonly endsObject: boolean;
}

const csvStyle: LineStyle = {
  quoteBytes: Buffer.alloc(0),
  // 0xef begins the full-width signs that spreadsheets read like the plain ones.
  unsafeFirst: bytesIn([...Buffer.from('=@+-",;\t\r\n'), 0xef]),
  unsafe: bytesIn([...Buffer.from('",;\t\r\n')]),
  cellOf: csvCell,
  around: (_, { isFirst }) => [isFirst ? "" : ",", ""],
  noDevice: ",".repeat(exportColumns.filter(({ path }) => path[0] === "device").length),
  lineEnd: "\r\n",
};

const jsonStyle: LineStyle = {
  quoteBytes: Buffer.from('"'),
  unsafeFirst: bytesIn([]),
  unsafe: bytesIn([...Array(32).keys(), ...Buffer.from('"\\')]),
  cellOf: (text) => JSON.stringify(text),
  around({ path }, { isFirst, beginsObject, endsObject }) {
    const [outer, inner] = path.map((name) => `${JSON.stringify(name)}:`);
    if (inner === undefined) return [`${isFirst ? "{" : ","}${outer}`, ""];
    return [`,${beginsObject ? `${outer}{` : ""}${inner}`, endsObject ? "}" : ""];
  },
  noDevice: "",
  lineEnd: "}\n",
};

function bytesIn(values: readonly number[]): Uint8Array {
  const table = new Uint8Array(256);
  for (const value of values) table[value] = 1;
  return table;
}

/** CSV with the columns and cells of the list of events. */
export function csvFile(options: FormatOptions): FileFormat {
  return lineFile(csvStyle, csvLine(exportColumns.map(({ path }) => path.join("."))), options);
}

/** A line of JSON for each event, with the names and values of the list of events. */
export function ndjsonFile(options: FormatOptions): FileFormat {
  return lineFile(jsonStyle, "", options);
}

/** Writes a value of a row. */
type WriteCell = (writer: ByteWriter, rows: RawRows, row: number) => void;

/** Writes some columns of a row: each value after the literal text that goes before it, and then the last literal. */
interface Cells {
  readonly literals: readonly Buffer[];
  readonly values: readonly WriteCell[];
}

/** How many lines are written before the thread takes what the database has sent. */
const linesPerTurn = 2_000;

function lineFile(style: LineStyle, header: string, { workspaceId }: FormatOptions): FileFormat {
  const deviceAt = exportColumns.findIndex(({ path }) => path[0] === "device");
  const afterDevice = exportColumns.findLastIndex(({ path }) => path[0] === "device") + 1;
  const parts = partsOf(style, workspaceId);
  const first = joinParts(parts.slice(0, deviceAt));
  const device = joinParts(parts.slice(deviceAt, afterDevice));
  const last = joinParts([...parts.slice(afterDevice), [style.lineEnd]]);
  let beginning = header;
  /** A device is written once for each portion, and copied for each of its events. */
  const devices = byteWriter(1 << 20);
  return {
    async write({ events, devices: rows, deviceOf }: Portion) {
      const writer = byteWriter(events.count * 1_024);
      writeText(writer, beginning);
      beginning = "";
      devices.length = 0;
      const starts = new Uint32Array(rows.count + 1);
      for (let row = 0; row < rows.count; row++) {
        writeCells(devices, device, rows, row);
        starts[row + 1] = devices.length;
        if (row % linesPerTurn === 0) await nextTurn();
      }
      for (let row = 0; row < events.count; row++) {
        writeCells(writer, first, events, row);
        const found = deviceOf[row] ?? -1;
        if (found === -1) writeText(writer, style.noDevice);
        else writeBytes(writer, devices.bytes, starts[found] ?? 0, starts[found + 1] ?? 0);
        writeCells(writer, last, events, row);
        if (row % linesPerTurn === 0) await nextTurn();
      }
      return writer.bytes.subarray(0, writer.length);
    },
    end: () => Buffer.from(beginning),
  };
}

function writeCells(writer: ByteWriter, { literals, values }: Cells, rows: RawRows, row: number): void {
  for (let place = 0; place < literals.length; place++) {
    writeLiteral(writer, literals[place] ?? noBytes);
    values[place]?.(writer, rows, row);
  }
}

const noBytes = Buffer.alloc(0);

/** The texts and values of every column. */
function partsOf(style: LineStyle, workspaceId: string): (string | WriteCell)[][] {
  return exportColumns.map((column, index) => {
    const [outer, inner] = column.path;
    const [before, after] = style.around(column, {
      isFirst: index === 0,
      beginsObject: inner !== undefined && exportColumns[index - 1]?.path[0] !== outer,
      endsObject: inner !== undefined && exportColumns[index + 1]?.path[0] !== outer,
    });
    const value =
      column.of === "constant"
        ? plainCell(style, constantOf(column, workspaceId))
        : valueWriter(style, column);
    return [before, value, after];
  });
}

/** Makes one literal of texts that follow each other. */
function joinParts(parts: readonly (readonly (string | WriteCell)[])[]): Cells {
  const literals: string[] = [""];
  const values: WriteCell[] = [];
  for (const part of parts.flat()) {
    if (typeof part === "string") literals.push((literals.pop() ?? "") + part);
    else {
      values.push(part);
      literals.push("");
    }
  }
  return { literals: literals.map((text) => Buffer.from(text)), values };
}

function plainCell(style: LineStyle, value: string | number | boolean): string {
  return typeof value === "string" ? style.cellOf(value) : String(value);
}

const [yes, no] = [Buffer.from("true"), Buffer.from("false")];

function valueWriter(style: LineStyle, { kind, labels, place }: ExportColumn): WriteCell {
  const { quoteBytes: quote } = style;
  const empty = Buffer.from(plainCell(style, ""));
  const label = new Map([...labels].map(([stored, name]) => [stored, Buffer.from(plainCell(style, name))]));
  const labelAt = knownText(label);
  const cell: Readonly<Record<typeof kind, (writer: ByteWriter, rows: RawRows, index: number) => void>> = {
    id(writer, rows, index) {
      writeLiteral(writer, quote);
      writeId(writer, rows.bytes, rows.starts[index] ?? 0);
      writeLiteral(writer, quote);
    },
    time(writer, rows, index) {
      writeLiteral(writer, quote);
      writeTime(writer, timeAt(rows, index));
      writeLiteral(writer, quote);
    },
    whole: (writer, rows, index) => writeWhole(writer, numberAt(rows, index)),
    number: (writer, rows, index) => writeText(writer, String(doubleAt(rows, index))),
    boolean: (writer, rows, index) => writeLiteral(writer, booleanAt(rows, index) ? yes : no),
    label: (writer, rows, index) => writeLiteral(writer, labelAt(rows, index) ?? empty),
    text: (writer, rows, index) => writeCellText(writer, style, rows, index),
  };
  const write = cell[kind];
  const none = label.get("") ?? empty;
  return (writer, rows, row) => {
    const index = row * rows.width + place;
    if (rows.lengths[index] === -1) writeLiteral(writer, none);
    else write(writer, rows, index);
  };
}

/** Copies a text as it is, unless it holds something that the format writes in another way. */
function writeCellText(writer: ByteWriter, style: LineStyle, rows: RawRows, index: number): void {
  const from = rows.starts[index] ?? 0;
  const to = from + (rows.lengths[index] ?? 0);
  const { bytes } = rows;
  let isSafe = to === from || style.unsafeFirst[bytes[from] ?? 0] === 0;
  for (let at = from; isSafe && at < to; at++) isSafe = style.unsafe[bytes[at] ?? 0] === 0;
  if (!isSafe) {
    writeText(writer, style.cellOf(textAt(rows, index)));
    return;
  }
  writeLiteral(writer, style.quoteBytes);
  writeBytes(writer, bytes, from, to);
  writeLiteral(writer, style.quoteBytes);
}
