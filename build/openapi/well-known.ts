import type { DescMessage } from "@bufbuild/protobuf";
import type { JsonSchema } from "./json-schema.ts";

const schemas: Readonly<Record<string, JsonSchema>> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": { type: "string", pattern: "^-?[0-9]+(\\.[0-9]{1,9})?s$" },
  "google.protobuf.FieldMask": { type: "string" },
  "google.protobuf.Struct": { type: "object", additionalProperties: true },
  "google.protobuf.Value": {},
  "google.protobuf.ListValue": { type: "array", items: {} },
  "google.protobuf.Empty": { type: "object" },
  "google.protobuf.Any": {
    type: "object",
    required: ["@type"],
    properties: { "@type": { type: "string" } },
    additionalProperties: true,
  },
  "google.protobuf.StringValue": { type: "string" },
  "google.protobuf.BytesValue": { type: "string", format: "byte", contentEncoding: "base64" },
  "google.protobuf.BoolValue": { type: "boolean" },
  "google.protobuf.Int32Value": { type: "integer", format: "int32" },
  "google.protobuf.UInt32Value": { type: "integer", minimum: 0, maximum: 4_294_967_295 },
  "google.protobuf.Int64Value": { type: "string", format: "int64" },
  "google.protobuf.UInt64Value": { type: "string", format: "int64" },
  "google.protobuf.FloatValue": { type: "number", format: "float" },
  "google.protobuf.DoubleValue": { type: "number", format: "double" },
};

/** The schema of a message that has a special form in protobuf's JSON; undefined for all others. */
export function wellKnownSchema({ typeName }: DescMessage): JsonSchema | undefined {
  return schemas[typeName];
}
