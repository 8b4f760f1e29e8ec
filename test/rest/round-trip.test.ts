import { create, createRegistry, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  file_signpost_testing_v1_specimen,
  type Specimen,
  Specimen_Color,
  SpecimenSchema,
} from "../../gen/signpost/testing/v1/specimen_pb.js";
import { createMessageWriters } from "../../src/rest/write-message.ts";
import { createMessageReaders, isJsonObject } from "../../src/wire/read-message.ts";
import { startReading } from "../../src/wire/reading.ts";

const registry = createRegistry(file_signpost_testing_v1_specimen);
const readers = createMessageReaders(registry);
const write = createMessageWriters(registry).message(SpecimenSchema);

type Init = MessageInitShape<typeof SpecimenSchema>;

const text = fc.string({ unit: "binary" });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
// Adding zero removes -0, which JSON lacks.
const double = fc.double().map((value) => value + 0);
const bytes = fc.uint8Array({ maxLength: 40 });
const color = fc.constantFrom(Specimen_Color.RED, Specimen_Color.GREEN);
const timestamp = fc.record({
  seconds: fc.bigInt({ min: -62_135_596_800n, max: 253_402_300_799n }),
  nanos: fc.integer({ min: 0, max: 999_999 }).map((micros) => micros * 1000),
});
const duration = fc.record({
  seconds: fc.bigInt({ min: 0n, max: 315_576_000_000n }),
  nanos: fc.integer({ min: 0, max: 999_999_999 }),
});
const fieldPath = fc.constantFrom("id", "display_name", "child.int32_value", "a.b.c");
const choice = fc.oneof(
  fc.constant({ case: undefined }),
  fc.record({ case: fc.constant("choiceString" as const), value: text }),
  fc.record({ case: fc.constant("choiceInt32" as const), value: fc.integer() }),
  fc.record({ case: fc.constant("choiceColor" as const), value: color }),
);

const leaf = fc.record(
  {
    ...{
      id: text,
      displayName: text,
      enabled: fc.boolean(),
      color,
      preference: fc.constantFrom(0, 1),
      choice,
    },
    ...{ int32Value: fc.integer(), sint32Value: fc.integer(), sfixed32Value: fc.integer() },
    ...{
      uint32Value: uint32,
      fixed32Value: uint32,
      int64Value: int64,
      sint64Value: int64,
      sfixed64Value: int64,
    },
    ...{ uint64Value: uint64, fixed64Value: uint64, int64Text: int64.map(String) },
    ...{ floatValue: fc.float().map((value) => value + 0), doubleValue: double, bytesValue: bytes },
    ...{ optionalString: text, optionalInt32: fc.integer(), optionalBool: fc.boolean() },
    ...{ optionalColor: color, optionalPreference: fc.constantFrom(0, 1) },
    ...{
      tags: fc.array(text),
      numbers: fc.array(fc.integer()),
      bigNumbers: fc.array(int64),
      colors: fc.array(color),
    },
    ...{ times: fc.array(timestamp), chunks: fc.array(bytes), metadata: fc.dictionary(text, text) },
    ...{ colorsByNumber: fc.dictionary(int64.map(String), color), createdAt: timestamp, delay: duration },
    ...{ mask: fc.record({ paths: fc.array(fieldPath) }), stringWrapper: text, int64Wrapper: int64 },
    ...{ boolWrapper: fc.boolean(), bytesWrapper: bytes, doubleWrapper: double },
    ...{ wrappedStrings: fc.array(text.map((value) => ({ value }))) },
  },
  { requiredKeys: [] },
);

const specimen = fc.record(
  { root: leaf, child: leaf, children: fc.array(leaf, { maxLength: 3 }), flagged: leaf },
  { requiredKeys: ["root"] },
);

test("a message of any content survives a round trip through JSON", () => {
  fc.assert(
    fc.property(specimen, ({ root, child, children, flagged }) => {
      const init = {
        ...root,
        ...(child && { child }),
        ...(children && { children }),
        ...(flagged && { childrenByFlag: { true: flagged } }),
      };
      // The generator may leave out any key; the init type marks them as optional.
      const message = create(SpecimenSchema, init as Init);
      const back = readBack(String(write(message)));
      expect(back).toEqual(message);
      expect(toBinary(SpecimenSchema, back)).toEqual(toBinary(SpecimenSchema, message));
    }),
    { seed: 1_2026, numRuns: 1_500 },
  );
});

function readBack(json: string): Specimen {
  const parsed: unknown = JSON.parse(json);
  const message = create(SpecimenSchema);
  const reading = startReading(json.length);
  readers.fill(SpecimenSchema, message, isJsonObject(parsed) ? parsed : {}, reading);
  expect(reading.violations).toEqual([]);
  return message;
}
