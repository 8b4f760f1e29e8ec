import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { TextsSchema } from "../../gen/signpost/testing/v1/handling_pb.js";
import { SpecimenSchema } from "../../gen/signpost/testing/v1/specimen_pb.js";
import { CreateLinkRequestSchema } from "../../gen/signpost/v1/links_service_pb.js";
import { CallError } from "../lib/errors.ts";
import { readBinary } from "./binary.ts";

test("a message of every kind of field is read as the library reads it", () => {
  const bytes = toBinary(
    SpecimenSchema,
    create(SpecimenSchema, {
      id: "7",
      int64Value: -5n,
      fixed64Value: 5n,
      floatValue: 1.5,
      doubleValue: 2.5,
      bytesValue: new Uint8Array([1, 2]),
      tags: ["a", "b"],
      numbers: [1, -1, 300],
      bigNumbers: [1n, 2n ** 60n],
      colors: [1, 2],
      children: [{ id: "c", children: [{ id: "d" }] }],
      metadata: { a: "b" },
      childrenByFlag: { true: { id: "e" } },
      createdAt: { seconds: 5n, nanos: 7 },
      struct: { a: [1, { b: null }] },
      structs: [{ a: 1 }],
      stringWrapper: "w",
      wrappedStrings: [{ value: "x" }],
    }),
  );
  expect(readBinary(SpecimenSchema, bytes)).toEqual(fromBinary(SpecimenSchema, bytes));
});

test("any bytes are either read as the library reads them or refused", () => {
  const texts = fc.record({
    text: fc.string(),
    list: fc.array(fc.string()),
    byKey: fc.dictionary(fc.string(), fc.string()),
    children: fc.array(fc.record({ text: fc.string() })),
  });
  const damaged = fc.tuple(texts, fc.nat(), fc.nat(255)).map(([init, at, byte]) => {
    const bytes = toBinary(TextsSchema, create(TextsSchema, init));
    if (bytes.length > 0) bytes[at % bytes.length] = byte;
    return bytes;
  });
  let read = 0;
  fc.assert(
    fc.property(fc.oneof(damaged, fc.uint8Array()), (bytes) => {
      let message: unknown;
      try {
        message = readBinary(TextsSchema, bytes);
      } catch {
        return;
      }
      read += 1;
      expect(message).toEqual(fromBinary(TextsSchema, bytes, { readUnknownFields: false }));
    }),
    { seed: 11, numRuns: 2_000 },
  );
  expect(read).toBeGreaterThan(100);
});

function refusalOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof CallError) return error.message;
    throw error;
  }
  return "";
}

test("a field over its limit is named with its path", () => {
  const bytes = toBinary(
    TextsSchema,
    create(TextsSchema, { children: [{}, { list: ["ok", "x".repeat(20_001)] }] }),
  );
  expect(refusalOf(() => readBinary(TextsSchema, bytes))).toBe(
    "children[1].list[1]: must have at most 20000 bytes",
  );
  const tags = toBinary(
    CreateLinkRequestSchema,
    create(CreateLinkRequestSchema, { tags: Array(21).fill("a") }),
  );
  expect(refusalOf(() => readBinary(CreateLinkRequestSchema, tags))).toBe("tags: must have at most 20 items");
});

test("the items of a packed list are counted one by one", () => {
  const numbers = Array.from({ length: 501 }, (_, index) => index);
  const bytes = toBinary(SpecimenSchema, create(SpecimenSchema, { numbers }));
  expect(refusalOf(() => readBinary(SpecimenSchema, bytes))).toBe("numbers: must have at most 500 items");
});

test("messages nest a hundred deep, as in JSON", () => {
  let deep = create(TextsSchema);
  for (let depth = 0; depth < 101; depth++) deep = create(TextsSchema, { child: deep });
  expect(refusalOf(() => readBinary(TextsSchema, toBinary(TextsSchema, deep)))).toMatch(
    /: is nested too deeply$/,
  );
});

test("a field of the wrong wire type is refused", () => {
  const bytes = new BinaryWriter().tag(1, WireType.Varint).int32(1).finish();
  expect(() => readBinary(TextsSchema, bytes)).toThrow("the bytes are no protobuf message");
});
