import { create, createFileRegistry, type DescService, getOption, setExtension } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import { HttpRuleSchema } from "../../gen/google/api/http_pb.js";
import { SpecimensService } from "../../gen/signpost/testing/v1/specimens_service_pb.js";
import { createRestRouter } from "./router.ts";

const router = createRestRouter([SpecimensService]);

/** A service whose methods A, B, … take and answer a message with the field `id`, each bound to one `VERB /path`. */
function serviceOf(...routes: string[]): DescService {
  const method = routes.map((route, index) => {
    const [kind = "", path = ""] = route.split(" ");
    const options = create(MethodOptionsSchema);
    const custom = { $typeName: "google.api.CustomHttpPattern", kind, path } as const;
    setExtension(options, http, create(HttpRuleSchema, { pattern: { case: "custom", value: custom } }));
    return { name: String.fromCharCode(65 + index), inputType: ".t.M", outputType: ".t.M", options };
  });
  const field = [{ name: "id", number: 1, type: 9, label: 1, jsonName: "id" }];
  const file = create(FileDescriptorProtoSchema, {
    name: "t.proto",
    package: "t",
    syntax: "proto3",
    messageType: [{ name: "M", field }],
    service: [{ name: "S", method }],
  });
  const service = createFileRegistry(file, () => undefined).getService("t.S");
  if (service === undefined) throw new Error("the descriptor holds no service");
  return service;
}

function matched(httpMethod: string, path: string): string {
  const match = router.match(httpMethod, path);
  if (match.kind === "found") return `${match.binding.method.name} ${match.segments.join(" ")}`;
  return match.kind === "wrong-method" ? `405 ${match.allow}` : "404";
}

test.each([
  ["GET", "/v1/specimens/7", "Get v1 specimens 7"],
  ["GET", "/v1/old-specimens/7", "Get v1 old-specimens 7"],
  ["HEAD", "/v1/specimens/7", "Get v1 specimens 7"],
  ["GET", "/v1/specimens", "List v1 specimens"],
  ["GET", "/v1/%73pecimens", "List v1 %73pecimens"], // a literal may come percent-encoded
  ["PATCH", "/v1/specimens/a%2Fb", "Update v1 specimens a%2Fb"],
  ["POST", "/v1/specimens/7:cancel", "Cancel v1 specimens 7"],
  ["POST", "/v1/specimens/a:b:cancel", "Cancel v1 specimens a:b"],
  ["POST", "/v1/specimens/images:resolve", "ResolveImages v1 specimens images"],
  ["GET", "/v1/specimens/7:other", "Get v1 specimens 7:other"], // no template has this verb, so it belongs to the value
  ["GET", "/v1/specimens/7%3Acancel", "Get v1 specimens 7%3Acancel"],
  ["GET", "/v1/specimens/:cancel", "Get v1 specimens :cancel"],
  ["POST", "/v1/specimens/batch", "CreateBatch v1 specimens batch"],
  ["GET", "/v1/shelves/1/books/2", "GetBook v1 shelves 1 books 2"],
  ["GET", "/v1/files/a/b/c", "Download v1 files a b c"],
  ["GET", "/v1/files", "Download v1 files"],
  ["GET", "/v1/specimens/batch", "405 POST"], // the literal beats the variable, then the method is checked
  ["POST", "/v1/specimens/7", "405 DELETE, GET, HEAD, PATCH, PUT"],
  ["GET", "/v1/specimens/7:cancel", "405 POST"],
  ["OPTIONS", "/v1/specimens", "405 GET, HEAD, POST"],
  ["get", "/v1/specimens", "405 GET, HEAD, POST"],
  ["GET", "/v1/specimens/", "404"],
  ["GET", "/v1//specimens", "404"],
  ["GET", "//v1/specimens", "404"],
  ["GET", "/v1/files/a/", "404"],
  ["GET", "/v1/specimens/7/8", "404"],
  ["GET", "/v1", "404"],
  ["GET", "/", "404"],
  ["GET", "", "404"],
  ["GET", "v1/specimens", "404"],
  ["OPTIONS", "*", "404"],
  ["GET", "/v1/%zz", "404"],
  ["GET", "/v1/__proto__", "404"],
  ["GET", "/constructor", "404"],
])("%s %s leads to %s", (httpMethod, path, expected) => {
  expect(matched(httpMethod, path)).toBe(expected);
});

test("a dead end behind a literal falls back to the variable beside it", () => {
  const { match } = createRestRouter([serviceOf("GET /a/b/c", "GET /a/{id}/d", "GET /a/{id=**}")]);
  const name = (path: string) => {
    const found = match("GET", path);
    return found.kind === "found" ? found.binding.method.name : found.kind;
  };
  expect(["/a/b/c", "/a/b/d", "/a/b/e", "/a"].map(name)).toEqual(["A", "B", "C", "C"]);
});

test("two RPCs of one shape are refused, whatever their variables are called", () => {
  expect(() => createRestRouter([serviceOf("GET /a/{id}", "GET /a/{id=*}")])).toThrow(
    't.S.B: GET "/a/{id=*}": t.S.A has the same shape with "/a/{id}"',
  );
  expect(() => createRestRouter([serviceOf("GET /a/{id}", "GET /a/*")])).toThrow("t.S.A has the same shape");
  expect(createRestRouter([serviceOf("GET /a/{id}", "PUT /a/{id}", "GET /a/{id}:b")]).bindings).toHaveLength(
    3,
  );
});

test("owns the paths whose first component some binding starts with", () => {
  expect(
    ["/v1", "/v1/", "/v1/x", "/v1?x", "/v1x", "/", "", "/x/v1"].map((path) => router.owns(path)),
  ).toEqual([true, true, true, true, false, false, false, false]);
});

test("every binding of the service is routed", () => {
  const declared = SpecimensService.methods.filter(
    (method) => getOption(method, http).pattern.case !== undefined,
  );
  expect(new Set(router.bindings.map(({ method }) => method))).toEqual(new Set(declared));
});
