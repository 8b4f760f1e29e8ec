import { type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { type CallError, invalid } from "../lib/errors.ts";
import { type FieldPlan, type MessagePlan, planOf, wireTypes } from "./binary-plan.ts";
import { depthMax, elementsMaxOf } from "./bounds.ts";
import { type FieldPath, fieldPath } from "./field-path.ts";
import { tooManyElements } from "./reading.ts";

/**
 * Reads a message from protobuf's bytes. A scan checks the bytes before any value is made of them: a field over its
 * limit throws a `CallError` that names it, and bytes that are no such message throw an Error. Unknown fields are
 * ignored.
 */
export function readBinary(schema: DescMessage, bytes: Uint8Array): Message {
  const scan: BinaryScan = { bytes, at: 0, elementsLeft: elementsMaxOf(bytes.length), depth: 1, place: [] };
  scanMessage(scan, bytes.length, planOf(schema));
  return fromBinary(schema, bytes, { readUnknownFields: false });
}

/** The scan over the bytes of one request. */
interface BinaryScan {
  readonly bytes: Uint8Array;
  at: number;
  elementsLeft: number;
  depth: number;
  /** The path to the scan's position; a list adds the index of its element, a map adds its entry. */
  readonly place: (FieldPath[number] | Entry)[];
}

/** The position where the bytes of a map's entry begin. */
interface Entry {
  readonly start: number;
}

function scanMessage(scan: BinaryScan, end: number, { fields }: MessagePlan): void {
  let counts: number[] | undefined;
  while (scan.at < end) {
    const tag = readLength(scan, end);
    const field = fields.get(tag >>> 3);
    if (field === undefined) skip(scan, end, tag & 7);
    else if (field.countMax === undefined) scanValue(scan, end, tag & 7, field, 0);
    else {
      counts ??= [];
      const before = counts[field.index] ?? 0;
      counts[field.index] = before + scanValue(scan, end, tag & 7, field, before);
    }
  }
}

/** Scans one value, or a packed list of values, of a field with `before` values so far. Returns how many it scanned. */
function scanValue(
  scan: BinaryScan,
  end: number,
  wireType: number,
  field: FieldPlan,
  before: number,
): number {
  // The library reads a value by its declared type, whatever its wire type, and would see other fields than this scan.
  if (wireType !== field.wireType && !(wireType === wireTypes.delimited && field.packedBytes !== undefined))
    throw malformed();
  if (wireType !== wireTypes.delimited) {
    take(scan, field, before, 1);
    skip(scan, end, wireType);
    return 1;
  }
  const length = readLength(scan, end);
  const valueEnd = scan.at + length;
  if (valueEnd > end) throw malformed();
  const values = field.packedBytes === undefined ? 1 : packedValues(scan, valueEnd, field.packedBytes);
  take(scan, field, before, values);
  if (length > field.size.max) throw fault(scan, field, before, field.size.description);
  if (field.child !== undefined) descend(scan, valueEnd, field, before, field.child());
  scan.at = valueEnd;
  return values;
}

function descend(scan: BinaryScan, end: number, field: FieldPlan, index: number, plan: MessagePlan): void {
  const { length } = scan.place;
  if (scan.depth >= depthMax) throw fault(scan, field, index, "is nested too deeply");
  scan.depth += 1;
  if (field.field !== undefined) scan.place.push(field.field);
  if (field.field?.fieldKind === "list") scan.place.push(index);
  if (field.field?.fieldKind === "map") scan.place.push({ start: scan.at });
  scanMessage(scan, end, plan);
  scan.place.length = length;
  scan.depth -= 1;
}

function take(scan: BinaryScan, field: FieldPlan, before: number, values: number): void {
  if (field.countMax === undefined) return;
  if (before + values > field.countMax) throw fault(scan, field, undefined, field.countFault);
  if (!field.isElement) return;
  scan.elementsLeft -= values;
  if (scan.elementsLeft < 0) throw fault(scan, field, undefined, tooManyElements);
}

function packedValues({ bytes, at }: BinaryScan, end: number, packedBytes: number): number {
  if (packedBytes > 0) return (end - at) / packedBytes;
  let values = 0;
  // The last byte of a varint is the only one below 128.
  for (let index = at; index < end; index++) if ((bytes[index] ?? 0) < 0x80) values += 1;
  return values;
}

function skip(scan: BinaryScan, end: number, wireType: number): void {
  switch (wireType) {
    case wireTypes.varint:
      while ((scan.bytes[scan.at++] ?? 0) >= 0x80);
      break;
    case wireTypes.fixed64:
      scan.at += 8;
      break;
    case wireTypes.fixed32:
      scan.at += 4;
      break;
    case wireTypes.delimited: {
      const length = readLength(scan, end);
      scan.at += length;
      break;
    }
    default:
      // No message here has groups.
      throw malformed();
  }
  if (scan.at > end) throw malformed();
}

/** Reads a varint of 32 bits: a tag or a length. */
function readLength(scan: BinaryScan, end: number): number {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = scan.bytes[scan.at++] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (scan.at > end) throw malformed();
      return value >>> 0;
    }
  }
  throw malformed();
}

function fault(
  scan: BinaryScan,
  field: FieldPlan,
  index: number | undefined,
  description: string,
): CallError {
  const path = scan.place.map((step) =>
    typeof step === "object" && "start" in step ? { key: keyOf(scan, step) } : step,
  );
  if (field.field !== undefined) path.push(field.field);
  if (index !== undefined && field.field?.fieldKind === "list") path.push(index);
  return invalid([{ field: fieldPath(path), description }]);
}

/** Reads as much of an entry's key as a path shows; every library writes the key first. */
function keyOf({ bytes }: BinaryScan, { start }: Entry): string {
  const [tag = 0, length = 0] = bytes.subarray(start);
  if ((tag & 7) !== wireTypes.delimited) return String(length);
  const lengthBytes = bytes.subarray(start + 1).findIndex((byte) => byte < 0x80) + 1;
  const key = bytes.subarray(start + 1 + lengthBytes).subarray(0, lengthBytes === 1 ? length : 256);
  return new TextDecoder().decode(key);
}

function malformed(): Error {
  return new Error("the bytes are no protobuf message");
}
