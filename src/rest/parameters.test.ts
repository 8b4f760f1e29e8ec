import { create, createRegistry, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { SpecimenSchema } from "../../gen/signpost/testing/v1/specimen_pb.js";
import { SpecimensService } from "../../gen/signpost/testing/v1/specimens_service_pb.js";
import { CallError } from "../lib/errors.ts";
import { createDecoders } from "./decode.ts";
import { createRestRouter } from "./router.ts";

const router = createRestRouter([SpecimensService]);
const decoderOf = createDecoders(createRegistry());

function decode(httpMethod: string, target: string) {
  const [path = "", query = ""] = target.split("?");
  const match = router.match(httpMethod, path);
  if (match.kind !== "found") throw new Error(`no route for ${target}`);
  return decoderOf(match.binding)({
    segments: match.segments,
    query,
    body: new Uint8Array(),
    contentType: undefined,
  });
}

function refusedFields(httpMethod: string, target: string): string[] {
  try {
    decode(httpMethod, target);
  } catch (error) {
    if (error instanceof CallError) return (error.refusal.fields ?? []).map(({ field }) => field);
    throw error;
  }
  return [];
}

const accepted: [query: string, init: MessageInitShape<typeof SpecimenSchema>][] = [
  ["", {}],
  ["id=a&displayName=b%20c", { id: "a", displayName: "b c" }],
  ["display_name=b+c", { displayName: "b c" }],
  ["display_name=%2B%26%3D", { displayName: "+&=" }],
  ["displayName=a=b", { displayName: "a=b" }],
  ["id=1&id=2", { id: "2" }], // the last one wins
  ["id=1&id=", { id: "1" }], // an empty value counts as absent
  ["id=&enabled=&int32Value=&tags=&createdAt=&color=&child.id=", {}],
  ["enabled=true&optionalBool=False", { enabled: true, optionalBool: false }],
  [
    "int32Value=-5&uint32Value=5&int64Value=-9223372036854775808",
    { int32Value: -5, uint32Value: 5, int64Value: -(2n ** 63n) },
  ],
  [
    "sint32Value=1&sfixed32Value=2&fixed32Value=3&sint64Value=4",
    { sint32Value: 1, sfixed32Value: 2, fixed32Value: 3, sint64Value: 4n },
  ],
  [
    "sfixed64Value=5&fixed64Value=6&uint64Value=18446744073709551615",
    { sfixed64Value: 5n, fixed64Value: 6n, uint64Value: 2n ** 64n - 1n },
  ],
  ["int64Text=7", { int64Text: "7" }],
  ["floatValue=1.5&doubleValue=-1e-3", { floatValue: 1.5, doubleValue: -0.001 }],
  ["bytesValue=-_8", { bytesValue: new Uint8Array([251, 255]) }],
  ["bytesValue=%2B/8%3D", { bytesValue: new Uint8Array([251, 255]) }],
  ["color=COLOR_RED&preference=1", { color: 1, preference: 1 }],
  ["color=COLOR_UNSPECIFIED&optionalColor=0", {}],
  ["tags=a&tags=b", { tags: ["a", "b"] }],
  ["tags=a,b", { tags: ["a", "b"] }],
  ["tags=a,b&tags=c&tags=d%2Ce", { tags: ["a", "b", "c", "d", "e"] }],
  ["tags=,a,,b,", { tags: ["a", "b"] }],
  ["numbers=1,2&big_numbers=3", { numbers: [1, 2], bigNumbers: [3n] }],
  ["colors=COLOR_RED,2", { colors: [1, 2] }],
  ["times=2026-01-31T12:00:00Z", { times: [{ seconds: 1769860800n }] }],
  ["createdAt=2026-01-31T14:00:00%2B02:00", { createdAt: { seconds: 1769860800n } }],
  ["createdAt=2026-01-31T14:00:00+02:00", { createdAt: { seconds: 1769860800n } }], // a plus sign that the client did not encode
  ["createdAt=2026-01-31T14:00:00+0200", { createdAt: { seconds: 1769860800n } }],
  ["createdAt=2026-01-31T14:00:00%2B0200", { createdAt: { seconds: 1769860800n } }],
  ["createdAt=2026-01-31T10:30:00.5-0130", { createdAt: { seconds: 1769860800n, nanos: 500_000_000 } }],
  ["delay=1.5s", { delay: { seconds: 1n, nanos: 500_000_000 } }],
  ["mask=displayName,child.id", { mask: { paths: ["display_name", "child.id"] } }],
  [
    "stringWrapper=x&int64Wrapper=5&boolWrapper=false",
    { stringWrapper: "x", int64Wrapper: 5n, boolWrapper: false },
  ],
  ["bytesWrapper=AQ&doubleWrapper=2", { bytesWrapper: new Uint8Array([1]), doubleWrapper: 2 }],
  ["child.id=a&child.child.int32_value=5", { child: { id: "a", child: { int32Value: 5 } } }],
  [
    "choiceChild.id=a&choiceChild.tags=b",
    { choice: { case: "choiceChild", value: create(SpecimenSchema, { id: "a", tags: ["b"] }) } },
  ],
  ["choiceInt32=0", { choice: { case: "choiceInt32", value: 0 } }],
  ["choiceInt32=1&choiceInt32=2", { choice: { case: "choiceInt32", value: 2 } }],
  ["optionalString=x&optionalInt32=0", { optionalString: "x", optionalInt32: 0 }],
  ["nobody=1&id.x=1&tags.x=1&child.nobody=1&__proto__=1&constructor=1&.=1&=1&&&%zz=1", {}],
  ["createdAt.seconds=5", {}], // a well-known message has no fields of its own in a query
];

test.each(accepted)("?%s is read", (query, init) => {
  expect(decode("GET", `/v1/specimens?${query}`)).toEqual(create(SpecimenSchema, init));
});

test.each([
  ["enabled=yes", ["enabled"]],
  ["int32Value=x&uint32_value=-1&int64Value=1.5", ["int32Value", "uint32Value", "int64Value"]],
  ["doubleValue=x&floatValue=1e99", ["doubleValue", "floatValue"]],
  ["bytesValue=*", ["bytesValue"]],
  ["color=COLOR_BLUE", ["color"]],
  ["color=9", ["color"]],
  ["colors=COLOR_RED,COLOR_BLUE", ["colors"]],
  ["numbers=1,x", ["numbers"]],
  ["createdAt=yesterday", ["createdAt"]],
  ["delay=5", ["delay"]],
  ["mask=a b", ["mask"]],
  ["int64Wrapper=x", ["int64Wrapper"]],
  ["child.child.int32Value=x", ["child.child.int32Value"]],
  ["child=x&metadata=x&children=x&struct=x&any=x", ["child", "metadata", "children", "struct", "any"]],
  ["choiceInt32=1&choiceString=a", ["choiceString"]],
  ["choiceInt32=1&choiceChild.id=a", ["choiceChild"]],
  ["id=%zz", ["id"]],
  ["id=%ff", ["id"]], // not UTF-8
  [`${"child.".repeat(200)}id=1`, ["child.child.child"]],
])("?%s is refused, naming every bad parameter", (query, fields) => {
  expect(refusedFields("GET", `/v1/specimens?${query}`)).toEqual(fields);
});

test.each([
  ["GET", "/v1/specimens/a%2Fb%20c", { id: "a/b c" }],
  ["GET", "/v1/specimens/a+b", { id: "a+b" }], // a plus sign in a path stays a plus sign
  ["GET", "/v1/specimens/x?id=y&include=z", { id: "x", include: ["z"] }], // the path wins
  ["GET", "/v1/counts/COLOR_RED/9007199254740993", { color: 1, number: 9007199254740993n }],
  ["GET", "/v1/shelves/a%20b/books/c%2Fd", { name: "shelves/a b/books/c%2Fd" }],
  ["GET", "/v1/files/a/b%2fc/%C3%A9", { path: "a/b%2fc/é" }],
  ["GET", "/v1/files", { path: "" }],
  [
    "PUT",
    "/v1/specimens/7?force=true&nested.id=n&specimen.id=no",
    { specimen: { id: "7" }, force: true, nested: { id: "n" } },
  ],
])("%s %s fills the fields of the path", (httpMethod, target, expected) => {
  expect(decode(httpMethod, target)).toMatchObject(expected);
});

test.each([
  ["/v1/specimens/%zz", ["id"]],
  ["/v1/specimens/%ff", ["id"]],
  ["/v1/files/a/%zz", ["path"]],
  ["/v1/counts/COLOR_BLUE/x", ["color", "number"]],
])("%s is refused, naming the field", (target, fields) => {
  expect(refusedFields("GET", target)).toEqual(fields);
});

test("a method whose body is the whole message has no query parameters", () => {
  expect(decode("POST", "/v1/specimens?id=x&color=COLOR_BLUE")).toEqual(create(SpecimenSchema));
});

test("a field that the body fills is no query parameter", () => {
  const target = "/v1/specimens/7?specimen.displayName=x&specimen.int32Value=x&specimen.id=%zz&force=true";
  expect(decode("PUT", target)).toMatchObject({ specimen: { id: "7", displayName: "" }, force: true });
});
