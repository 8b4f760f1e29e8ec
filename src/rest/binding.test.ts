import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { HttpRuleSchema } from "../../gen/google/api/http_pb.js";
import { SpecimensService } from "../../gen/signpost/testing/v1/specimens_service_pb.js";
import { bind, bindingsOf } from "./binding.ts";

type Pattern = NonNullable<MessageInitShape<typeof HttpRuleSchema>["pattern"]>;

function rule(pattern: Pattern, body = "", responseBody = "") {
  return create(HttpRuleSchema, { pattern, body, responseBody });
}

const get = (value: string): Pattern => ({ case: "get", value });
const post = (value: string): Pattern => ({ case: "post", value });
const { create: createMethod, replace } = SpecimensService.method;

test.each([
  [rule(get("/v1/{idd}")), 'column 5: signpost.testing.v1.Specimen has no field "idd"'],
  [rule(get("/v1/{displayName}")), 'column 5: signpost.testing.v1.Specimen has no field "displayName"'], // proto names only
  [rule(get("/v1/{child.idd}")), 'column 5: signpost.testing.v1.Specimen has no field "idd"'],
  [rule(get("/v1/{id.x}")), 'column 5: id.x has no field "x"'],
  [rule(get("/v1/{tags.x}")), 'column 5: tags.x has no field "x"'],
  [rule(get("/v1/{id}/{id}")), 'column 10: field "id" is bound twice'],
  [rule(get("/v1/{child}")), 'column 5: field "child" is a message, not a single value'],
  [rule(get("/v1/{created_at}")), 'column 5: field "created_at" is a message, not a single value'],
  [rule(get("/v1/{tags}")), 'column 5: field "tags" is a list, not a single value'],
  [rule(get("/v1/{metadata}")), 'column 5: field "metadata" is a map, not a single value'],
  [rule(get("/v1/{id"), ""), 'column 8: expected "}", but the template ends'],
  [rule(get("/v1/x"), "*"), "GET has no body"],
  [rule({ case: "delete", value: "/v1/x" }, "child"), "DELETE has no body"],
  [rule(post("/v1/x"), "childd"), 'body: signpost.testing.v1.Specimen has no field "childd"'],
  [rule(post("/v1/{id}"), "id"), 'column 5: field "id" is also the body'],
  [rule(post("/v1/x"), "*", "idd"), 'response_body: signpost.testing.v1.Specimen has no field "idd"'],
  [
    rule({ case: "custom", value: { $typeName: "google.api.CustomHttpPattern", kind: "*", path: "/v1/x" } }),
    "the HTTP method must be one word in capitals",
  ],
  [
    rule({
      case: "custom",
      value: { $typeName: "google.api.CustomHttpPattern", kind: "HEAD", path: "/v1/x" },
    }),
    "HEAD is answered by the binding of GET",
  ],
  [rule({ case: undefined }), "the HTTP method must be one word in capitals"],
])("a wrong rule is refused with the method's name: %#", (wrong, why) => {
  const start = "signpost.testing.v1.SpecimensService.Create: ";
  expect(() => bind(createMethod, wrong)).toThrow(start);
  expect(() => bind(createMethod, wrong)).toThrow(`": ${why}`);
});

test("an RPC without the google.api.http option has no binding, and additional bindings all count", () => {
  expect(bindingsOf(SpecimensService.method.hidden)).toEqual([]);
  expect(bindingsOf(SpecimensService.method.get).map(({ template }) => template.text)).toEqual([
    "/v1/specimens/{id}",
    "/v1/old-specimens/{id}",
  ]);
});

test("a mask is filled on PATCH and PUT only", () => {
  const field = replace.input.fields.find(({ name }) => name === "update_mask");
  expect(bind(replace, rule({ case: "put", value: "/v1/x" }, "*")).maskField).toBe(field);
  expect(bind(replace, rule({ case: "patch", value: "/v1/x" }, "*")).maskField).toBe(field);
  expect(bind(replace, rule(post("/v1/x"), "*")).maskField).toBeUndefined();
});
