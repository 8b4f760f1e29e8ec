import { create, createRegistry, type MessageInitShape } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import {
  file_signpost_testing_v1_specimen,
  type Specimen,
  Specimen_Color,
  SpecimenSchema,
} from "../../gen/signpost/testing/v1/specimen_pb.js";
import { createMessageWriters } from "../rest/write-message.ts";
import { createMessageReaders, isJsonObject } from "./read-message.ts";
import { type Reading, startReading } from "./reading.ts";

const registry = createRegistry(file_signpost_testing_v1_specimen);
const readers = createMessageReaders(registry);
const writeSpecimen = createMessageWriters(registry).message(SpecimenSchema);

function read(text: string): { message: Specimen; given: string[]; reading: Reading } {
  const json: unknown = JSON.parse(text);
  if (!isJsonObject(json)) throw new Error("the test needs an object");
  const message = create(SpecimenSchema);
  const reading = startReading(text.length);
  const given = readers.fill(SpecimenSchema, message, json, reading);
  return { message, given, reading };
}

const accepted: [json: string, init: MessageInitShape<typeof SpecimenSchema>][] = [
  ['{"displayName":"a","display_name":"b"}', { displayName: "b" }], // the last one wins
  ['{"enabled":true,"enabled":false}', { enabled: false }],
  [
    '{"int32Value":-2147483648,"uint32Value":4294967295}',
    { int32Value: -(2 ** 31), uint32Value: 2 ** 32 - 1 },
  ],
  [
    '{"int32Value":"12","sint32Value":1e3,"sfixed32Value":5.0}',
    { int32Value: 12, sint32Value: 1000, sfixed32Value: 5 },
  ],
  [
    '{"int64Value":"-9223372036854775808","uint64Value":"18446744073709551615"}',
    { int64Value: -(2n ** 63n), uint64Value: 2n ** 64n - 1n },
  ],
  ['{"int64Value":9007199254740991,"fixed64Value":7}', { int64Value: 2n ** 53n - 1n, fixed64Value: 7n }],
  ['{"int64Text":"42"}', { int64Text: "42" }],
  ['{"floatValue":1.5,"doubleValue":"1e-3"}', { floatValue: 1.5, doubleValue: 0.001 }],
  [
    '{"doubleValue":"-Infinity","floatValue":"NaN"}',
    { doubleValue: Number.NEGATIVE_INFINITY, floatValue: Number.NaN },
  ],
  ['{"bytesValue":"+/8="}', { bytesValue: new Uint8Array([251, 255]) }],
  ['{"bytesValue":"-_8"}', { bytesValue: new Uint8Array([251, 255]) }], // base64url without padding
  ['{"bytesValue":""}', {}],
  ['{"color":"COLOR_RED","preference":1}', { color: Specimen_Color.RED, preference: 1 }],
  ['{"color":"COLOR_UNSPECIFIED","optionalColor":"COLOR_UNSPECIFIED","choiceColor":0}', {}],
  ['{"optionalPreference":"PREFERENCE_PLAIN"}', { optionalPreference: 0 }], // a zero value with a meaning
  [
    '{"optionalString":"","optionalInt32":0,"optionalBool":false}',
    { optionalString: "", optionalInt32: 0, optionalBool: false },
  ],
  [
    '{"id":null,"tags":null,"child":null,"createdAt":null,"metadata":null,"choiceString":null,"value":null}',
    {},
  ],
  ['{"nobody":1,"__proto__":{"id":"x"},"constructor":1,"child":{"nobody":[[[]]]}}', { child: {} }],
  [
    '{"tags":["a","b"],"numbers":[1,"2"],"bigNumbers":[1,"2"]}',
    { tags: ["a", "b"], numbers: [1, 2], bigNumbers: [1n, 2n] },
  ],
  ['{"colors":["COLOR_RED","COLOR_UNSPECIFIED",2]}', { colors: [1, 0, 2] }],
  [
    '{"children":[{"id":"1"},{"children":[{"id":"2"}]}]}',
    { children: [{ id: "1" }, { children: [{ id: "2" }] }] },
  ],
  [
    '{"metadata":{"a":"1","b":null},"colorsByNumber":{"-5":"COLOR_GREEN"}}',
    { metadata: { a: "1" }, colorsByNumber: { "-5": 2 } },
  ],
  ['{"childrenByFlag":{"true":{"id":"1"}}}', { childrenByFlag: { true: { id: "1" } } }],
  ['{"createdAt":"2026-01-31T12:00:00Z"}', { createdAt: { seconds: 1769860800n, nanos: 0 } }],
  [
    '{"created_at":"2026-01-31t14:30:00.123456789+02:30"}',
    { createdAt: { seconds: 1769860800n, nanos: 123456789 } },
  ],
  [
    '{"createdAt":"2026-01-31T11:59:59.5-00:00"}',
    { createdAt: { seconds: 1769860799n, nanos: 500_000_000 } },
  ],
  ['{"bytesValue":"data:image/png;base64,AAEC"}', { bytesValue: new Uint8Array([0, 1, 2]) }],
  ['{"bytesValue":"data:;base64,AAEC"}', { bytesValue: new Uint8Array([0, 1, 2]) }],
  ['{"createdAt":"2026-01-31T14:00:00+0200"}', { createdAt: { seconds: 1769860800n, nanos: 0 } }],
  [
    '{"createdAt":"2026-01-31T10:30:00.25-0130"}',
    { createdAt: { seconds: 1769860800n, nanos: 250_000_000 } },
  ],
  ['{"createdAt":"0001-01-01T00:00:00Z"}', { createdAt: { seconds: -62135596800n } }],
  [
    '{"createdAt":"9999-12-31T23:59:59.999999Z"}',
    { createdAt: { seconds: 253402300799n, nanos: 999_999_000 } },
  ],
  ['{"createdAt":"2024-02-29T00:00:00Z"}', { createdAt: { seconds: 1709164800n } }],
  ['{"createdAt":"1969-12-31T23:59:59.5Z"}', { createdAt: { seconds: -1n, nanos: 500_000_000 } }],
  ['{"delay":"1.5s"}', { delay: { seconds: 1n, nanos: 500_000_000 } }],
  ['{"delay":"-0.25s"}', { delay: { seconds: 0n, nanos: -250_000_000 } }],
  ['{"mask":"displayName,child.int32_value"}', { mask: { paths: ["display_name", "child.int32_value"] } }],
  ['{"mask":""}', { mask: { paths: [] } }],
  ['{"mask":"*,child.list.0"}', { mask: { paths: ["*", "child.list.0"] } }],
  [
    '{"struct":{"a":[1,null,{"b":true}]},"structs":[{}]}',
    { struct: { a: [1, null, { b: true }] }, structs: [{}] },
  ],
  [
    '{"value":[1]}',
    {
      value: {
        kind: { case: "listValue", value: { values: [{ kind: { case: "numberValue", value: 1 } }] } },
      },
    },
  ],
  ['{"listValue":["x"]}', { listValue: { values: [{ kind: { case: "stringValue", value: "x" } }] } }],
  [
    '{"stringWrapper":"","int64Wrapper":"5","boolWrapper":false}',
    { stringWrapper: "", int64Wrapper: 5n, boolWrapper: false },
  ],
  ['{"wrappedStrings":["x"]}', { wrappedStrings: [{ value: "x" }] }],
  ['{"choiceInt32":0}', { choice: { case: "choiceInt32", value: 0 } }],
  [
    '{"choiceWrapper":"x"}',
    { choice: { case: "choiceWrapper", value: { $typeName: "google.protobuf.StringValue", value: "x" } } },
  ],
  [
    '{"choiceString":null,"choiceChild":{"id":"1"}}',
    { choice: { case: "choiceChild", value: create(SpecimenSchema, { id: "1" }) } },
  ],
];

test.each(accepted)("%s is read", (json, init) => {
  const { message, reading } = read(json);
  expect(reading.violations).toEqual([]);
  expect(message).toEqual(create(SpecimenSchema, init));
});

test.each([
  ['{"id":1}', "id"],
  ['{"id":"\\ud800"}', "id"],
  ['{"enabled":"true"}', "enabled"],
  ['{"int32Value":2147483648}', "int32Value"],
  ['{"int32_value":1.5}', "int32Value"],
  ['{"int32Value":""}', "int32Value"],
  ['{"int32Value":"0x10"}', "int32Value"],
  ['{"int32Value":true}', "int32Value"],
  ['{"uint32Value":-1}', "uint32Value"],
  ['{"int64Value":9007199254740993}', "int64Value"], // JSON numbers are inexact from 2^53 on
  ['{"int64Value":"9223372036854775808"}', "int64Value"],
  ['{"uint64Value":"-1"}', "uint64Value"],
  ['{"doubleValue":1e999}', "doubleValue"],
  ['{"floatValue":3.5e38}', "floatValue"],
  ['{"doubleValue":""}', "doubleValue"],
  ['{"doubleValue":"1,5"}', "doubleValue"],
  ['{"bytesValue":"abcde"}', "bytesValue"],
  ['{"bytesValue":"ab cd"}', "bytesValue"],
  ['{"bytesValue":"ab=cd"}', "bytesValue"],
  ['{"bytesValue":"é"}', "bytesValue"],
  ['{"color":"COLOR_BLUE"}', "color"],
  ['{"color":"red"}', "color"],
  ['{"color":3}', "color"],
  ['{"color":"1"}', "color"],
  ['{"color":"__proto__"}', "color"],
  ['{"tags":"a"}', "tags"],
  ['{"tags":{"0":"a"}}', "tags"],
  ['{"tags":["a",null]}', "tags[1]"],
  ['{"children":[{},{"tags":[1]}]}', "children[1].tags[0]"],
  ['{"child":{"child":{"id":0}}}', "child.child.id"],
  ['{"child":"x"}', "child"],
  ['{"child":[]}', "child"],
  ['{"metadata":[]}', "metadata"],
  ['{"metadata":{"a":1}}', "metadata.a"],
  ['{"metadata":{"two words":1}}', 'metadata["two words"]'],
  ['{"metadata":{"\\udc00":"x"}}', 'metadata["\\udc00"]'],
  ['{"colorsByNumber":{"x":1}}', "colorsByNumber.x"],
  ['{"childrenByFlag":{"true":{"id":0}}}', "childrenByFlag.true.id"],
  ['{"createdAt":"2026-02-30T00:00:00Z"}', "createdAt"],
  ['{"createdAt":"2025-02-29T00:00:00Z"}', "createdAt"],
  ['{"createdAt":"2026-00-10T00:00:00Z"}', "createdAt"],
  ['{"createdAt":"2026-01-31"}', "createdAt"],
  ['{"createdAt":"2026-01-31T12:00:00"}', "createdAt"],
  ['{"createdAt":"2026-01-31T24:00:00Z"}', "createdAt"],
  ['{"createdAt":"2026-01-31T23:59:60Z"}', "createdAt"],
  ['{"createdAt":"0001-01-01T00:00:00+01:00"}', "createdAt"],
  ['{"createdAt":"2026-01-31T12:00:00.1234567890Z"}', "createdAt"],
  ['{"bytesValue":"data:image/png,AAEC"}', "bytesValue"],
  ['{"createdAt":"2026-01-31T12:00:00+020"}', "createdAt"],
  ['{"createdAt":"2026-01-31T12:00:00+2400"}', "createdAt"],
  ['{"createdAt":1769860800}', "createdAt"],
  ['{"times":["x"]}', "times[0]"],
  ['{"delay":"1"}', "delay"],
  ['{"delay":"999999999999s"}', "delay"],
  ['{"mask":"a b"}', "mask"],
  ['{"mask":"a.*"}', "mask"],
  ['{"mask":["a"]}', "mask"],
  ['{"struct":[]}', "struct"],
  ['{"struct":{"a":"\\ud800"}}', "struct"],
  ['{"struct":{"a":1e999}}', "struct"],
  ['{"listValue":{}}', "listValue"],
  ['{"any":{"@type":"type.googleapis.com/nobody.Knows"}}', "any"],
  ['{"any":5}', "any"],
  ['{"stringWrapper":5}', "stringWrapper"],
  ['{"choiceString":"a","choiceInt32":1}', "choiceInt32"], // two members of one oneof
])("%s is refused, naming %s", (json, field) => {
  const { reading } = read(json);
  expect(reading.violations.map((violation) => violation.field)).toContain(field);
});

test("every bad field is listed, at any depth, and the reader continues after it", () => {
  const { message, reading } = read(
    '{"id":1,"children":[{"id":"ok"},{"id":2,"color":"X","createdAt":""}],"metadata":{"a":1},"displayName":"kept"}',
  );
  expect(reading.violations.map(({ field }) => field)).toEqual([
    "id",
    "children[1].id",
    "children[1].color",
    "children[1].createdAt",
    "metadata.a",
  ]);
  expect(message.displayName).toBe("kept");
});

test("refusals never repeat the request's values, and at most a hundred are kept", () => {
  const { reading } = read(JSON.stringify({ color: "SECRET", tags: Array(400).fill(5) }));
  expect(reading.violations).toHaveLength(100);
  expect(JSON.stringify(reading.violations)).not.toContain("SECRET");
  expect(reading.violations[0]?.description).toBe("must be one of COLOR_RED, COLOR_GREEN");
});

test("a hundred levels of nesting are read and more are refused", () => {
  const nested = (levels: number, inner: string) => `{"child":`.repeat(levels) + inner + "}".repeat(levels);
  expect(read(nested(100, "{}")).reading.violations).toEqual([]);
  expect(read(nested(101, "{}")).reading.violations[0]?.description).toBe("is nested too deeply");
  const lists = (levels: number) => `{"value":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  expect(read(lists(100)).reading.violations).toEqual([]);
  expect(read(lists(101)).reading.violations[0]?.field).toBe("value");
  expect(read(lists(100_000)).reading.violations[0]?.description).toBe("is nested too deeply");
  expect(read(`{"nobody":${"[".repeat(100_000)}${"]".repeat(100_000)}}`).reading.violations).toEqual([]);
});

test("keys named like properties of objects stay plain keys", () => {
  const { message } = read('{"metadata":{"__proto__":"x","constructor":"y"},"struct":{"__proto__":{"a":1}}}');
  expect(Object.getPrototypeOf(message.metadata)).toBe(Object.prototype);
  expect(Object.keys(message.metadata)).toEqual(["__proto__", "constructor"]);
  expect(writeSpecimen(message)).toContain('"metadata":{"__proto__":"x","constructor":"y"}');
  expect(writeSpecimen(message)).toContain('"struct":{"__proto__":{"a":1}}');
});

test("fill returns the proto name of each known field with a value other than null and unspecified, once", () => {
  const { given } = read(
    '{"displayName":"","display_name":"x","tags":[],"id":null,"color":"COLOR_UNSPECIFIED","nobody":1}',
  );
  expect(given).toEqual(["display_name", "tags"]);
});

test("Any takes the messages of the registry", () => {
  const type = "type.googleapis.com/signpost.testing.v1.Specimen";
  const { any } = read(`{"any":{"@type":"${type}","id":"7","nobody":1}}`).message;
  expect(any && anyUnpack(any, SpecimenSchema)).toMatchObject({ id: "7" });
});
