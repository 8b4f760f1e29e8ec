import type { DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { SpecimenSchema } from "../../gen/signpost/testing/v1/specimen_pb.js";
import { LinkSchema } from "../../gen/signpost/v1/link_pb.js";
import { CreateLinkRequestSchema, ListLinksRequestSchema } from "../../gen/signpost/v1/links_service_pb.js";
import { MediaSelectionSchema } from "../../gen/signpost/v1/media_pb.js";
import { VCardPayloadSchema } from "../../gen/signpost/v1/workflow_step_payload_page_pb.js";
import { WorkflowStepPayloadSchema } from "../../gen/signpost/v1/workflow_step_payload_pb.js";
import { WorkflowStepSchema } from "../../gen/signpost/v1/workflow_step_pb.js";
import { componentName, createSchemas, type Schemas } from "./schemas.ts";

function schemasOf({
  sent = [],
  answered = [],
}: {
  sent?: DescMessage[];
  answered?: DescMessage[];
}): Schemas {
  return createSchemas({
    commentOf: () => ({ summary: "", rest: "", errors: "" }),
    sent: new Set(sent),
    answered: new Set(answered),
    hidden: new Set(),
    replaced: new Map(),
  });
}

function propertiesOf(schemas: Schemas, message: DescMessage) {
  schemas.message(message);
  return schemas.components()[componentName(message)]?.properties ?? {};
}

test("every type has the schema of its JSON form", () => {
  const properties = propertiesOf(schemasOf({ answered: [SpecimenSchema] }), SpecimenSchema);
  expect(properties).toMatchObject({
    id: { type: "string" },
    enabled: { type: "boolean" },
    int32Value: { type: "integer", format: "int32" },
    uint32Value: { type: "integer", minimum: 0 },
    int64Value: { type: "string", format: "int64" },
    doubleValue: { type: "number", format: "double" },
    bytesValue: { type: "string", contentEncoding: "base64" },
    color: { $ref: "#/components/schemas/SpecimenColor" },
    tags: { type: "array", items: { type: "string" } },
    metadata: { type: "object", additionalProperties: { type: "string" } },
    child: { $ref: "#/components/schemas/Specimen" },
    createdAt: { type: "string", format: "date-time" },
    delay: { type: "string" },
    struct: { type: "object", additionalProperties: true },
    value: {},
    listValue: { type: "array", items: {} },
    any: { type: "object", required: ["@type"] },
    int64Wrapper: { type: "string", format: "int64" },
  });
});

test("limits, required fields and formats come from the rules of validation", () => {
  const schemas = schemasOf({ sent: [CreateLinkRequestSchema] });
  const properties = propertiesOf(schemas, CreateLinkRequestSchema);
  expect(properties).toMatchObject({
    destination: { type: "string", minLength: 1, maxLength: 2048 },
    customDomainId: { type: "string", format: "uuid" },
    tags: { maxItems: 20, items: { minLength: 1, maxLength: 50 } },
    metadata: {
      maxProperties: 50,
      propertyNames: { minLength: 1, maxLength: 40 },
      additionalProperties: { maxLength: 500 },
    },
  });
  expect(schemas.components().CreateLinkRequest?.required).toEqual(["destination"]);
});

test("64-bit numbers are numbers in requests and text in answers", () => {
  const asked = propertiesOf(schemasOf({ sent: [ListLinksRequestSchema] }), ListLinksRequestSchema);
  expect(asked.pageSize).toMatchObject({ type: "integer", format: "int64", minimum: 0 });
  const answered = propertiesOf(schemasOf({ answered: [LinkSchema] }), LinkSchema);
  expect(answered.eventCount).toMatchObject({ type: "string", format: "int64", readOnly: true });
});

test("an answer requires the fields that are always present, and no others", () => {
  const schemas = schemasOf({ answered: [LinkSchema] });
  schemas.message(LinkSchema);
  const { required } = schemas.components().Link ?? {};
  expect(required).toEqual(expect.arrayContaining(["id", "name", "tags", "metadata", "eventCount"]));
  expect(required).not.toContain("createdAt");
  expect(required).not.toContain("customDomain");
  expect(required).not.toContain("qrcodeSignedUrl");
});

test("a nested type's name includes its outer type", () => {
  const schemas = schemasOf({ answered: [WorkflowStepSchema] });
  schemas.message(WorkflowStepSchema);
  expect(schemas.components().WorkflowStepKind).toMatchObject({
    type: "string",
    enum: expect.arrayContaining(["KIND_UNSPECIFIED"]),
  });
});

test("a text with a format may be empty in answers when it is optional", () => {
  const form = (options: Parameters<typeof schemasOf>[0]) =>
    propertiesOf(schemasOf(options), VCardPayloadSchema).email;
  expect(form({ answered: [VCardPayloadSchema] })).toMatchObject({
    type: "string",
    maxLength: 254,
  });
  expect(form({ answered: [VCardPayloadSchema] })).not.toHaveProperty("format");
  expect(form({ sent: [VCardPayloadSchema] })).toMatchObject({ format: "email", maxLength: 254 });
});

test("of an optional choice at most one member may be given", () => {
  const schemas = schemasOf({ sent: [WorkflowStepPayloadSchema] });
  schemas.message(WorkflowStepPayloadSchema);
  expect(schemas.components().WorkflowStepPayload).toMatchObject({ maxProperties: 1 });
  expect(schemas.components().WorkflowStepPayload).not.toHaveProperty("minProperties");
});

test("of a required choice exactly one member is given", () => {
  const schemas = schemasOf({ sent: [MediaSelectionSchema] });
  schemas.message(MediaSelectionSchema);
  expect(schemas.components().MediaSelection).toMatchObject({
    maxProperties: 1,
    minProperties: 1,
  });
});
