import { create, createRegistry, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import {
  file_signpost_testing_v1_specimen,
  type Specimen_Color,
  SpecimenSchema,
} from "../../gen/signpost/testing/v1/specimen_pb.js";
import { createMessageWriters } from "./write-message.ts";

type SpecimenInit = MessageInitShape<typeof SpecimenSchema>;

const registry = createRegistry(file_signpost_testing_v1_specimen);
const writeSpecimen = createMessageWriters(registry).message(SpecimenSchema);

function write(init: SpecimenInit): Record<string, JsonValue> {
  // Every message that is not well-known is written as an object.
  return JSON.parse(String(writeSpecimen(create(SpecimenSchema, init)))) as Record<string, JsonValue>;
}

test("defaults are written, and unset fields with presence are left out", () => {
  expect(write({})).toEqual({
    ...{ id: "", displayName: "", enabled: false },
    ...{ int32Value: 0, sint32Value: 0, sfixed32Value: 0, uint32Value: 0, fixed32Value: 0 },
    ...{
      int64Value: "0",
      sint64Value: "0",
      sfixed64Value: "0",
      uint64Value: "0",
      fixed64Value: "0",
      int64Text: "0",
    },
    ...{
      floatValue: 0,
      doubleValue: 0,
      bytesValue: "",
      color: "COLOR_UNSPECIFIED",
      preference: "PREFERENCE_PLAIN",
    },
    ...{
      tags: [],
      numbers: [],
      bigNumbers: [],
      colors: [],
      children: [],
      times: [],
      chunks: [],
      wrappedStrings: [],
    },
    ...{ structs: [], metadata: {}, colorsByNumber: {}, childrenByFlag: {} },
  });
});

const written: [init: SpecimenInit, json: Record<string, unknown>][] = [
  [{ int64Value: 2n ** 60n }, { int64Value: "1152921504606846976" }],
  [
    { optionalString: "", optionalInt32: 0 },
    { optionalString: "", optionalInt32: 0 },
  ],
  [{ createdAt: timestampFromDate(new Date("2026-01-31T12:00:00Z")) }, { createdAt: "2026-01-31T12:00:00Z" }],
  [
    { createdAt: timestampFromDate(new Date("2026-01-31T12:00:00.120Z")) },
    { createdAt: "2026-01-31T12:00:00.120Z" },
  ],
  [{ createdAt: { seconds: 0n, nanos: 1_999 } }, { createdAt: "1970-01-01T00:00:00.000001Z" }], // cut to microseconds
  [{ createdAt: { seconds: 0n, nanos: 999 } }, { createdAt: "1970-01-01T00:00:00Z" }],
  [{ createdAt: { seconds: -1n, nanos: 5e8 } }, { createdAt: "1969-12-31T23:59:59.500Z" }],
  [{ createdAt: { seconds: -62135596800n } }, { createdAt: "0001-01-01T00:00:00Z" }],
  [{ delay: { seconds: -1n, nanos: -1 } }, { delay: "-1.000000001s" }],
  [{ delay: { seconds: 3n } }, { delay: "3s" }],
  [{ mask: { paths: ["display_name", "child.int32_value"] } }, { mask: "displayName,child.int32Value" }],
  [{ bytesValue: new Uint8Array([251, 255]) }, { bytesValue: "+/8=" }],
  [
    { floatValue: Number.NaN, doubleValue: Number.NEGATIVE_INFINITY },
    { floatValue: "NaN", doubleValue: "-Infinity" },
  ],
  // An enum value that only a newer gRPC caller knows.
  [{ colors: [1, 77 as Specimen_Color] }, { colors: ["COLOR_RED", 77] }],
  [
    { stringWrapper: "", int64Wrapper: 5n },
    { stringWrapper: "", int64Wrapper: "5" },
  ],
  [{ wrappedStrings: [{ value: "x" }] }, { wrappedStrings: ["x"] }],
  [{ value: { kind: { case: "boolValue", value: true } } }, { value: true }],
  [
    { id: 'a"b\\c\n\u2028\ud800é', metadata: { 'k"': "v" } },
    { id: 'a"b\\c\n\u2028\ud800é', metadata: { 'k"': "v" } },
  ],
];

test.each(written)("%# is written as in the contract", (init, json) => {
  expect(write(init)).toMatchObject(json);
});

test("an answer is the same whether its records were written before it or with it", () => {
  const children = [10, 2_000, 5, 3_000, 70_000].map((length, index) =>
    create(SpecimenSchema, { id: "ü\u0000".repeat(length), child: { int32Value: index } }),
  );
  const list = create(SpecimenSchema, { id: "list", children, mask: { paths: ["id"] } });
  const before = write(list);
  const writers = createMessageWriters(registry);
  for (const child of children) {
    const bytes = writers.record(SpecimenSchema, child);
    expect(bytes).toBe(Buffer.byteLength(writeSpecimen(child)));
  }
  expect(JSON.parse(String(writers.message(SpecimenSchema)(list)))).toEqual(before);
});

test("Any is written as its message, and with its bytes when the type is unknown", () => {
  const any = anyPack(SpecimenSchema, create(SpecimenSchema, { id: "7" }));
  const json = write({ any });
  expect(json.any).toMatchObject({ "@type": "type.googleapis.com/signpost.testing.v1.Specimen", id: "7" });
  expect(write({ any: { typeUrl: "x/y.Z", value: new Uint8Array([1]) } }).any).toEqual({
    "@type": "x/y.Z",
    value: "AQ==",
  });
});
