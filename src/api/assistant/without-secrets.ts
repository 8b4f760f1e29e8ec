import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";

/** A message, as JSON, without the fields that hold secrets: a model and its server never get them. */
export function withoutSecrets(desc: DescMessage, json: JsonValue): JsonValue {
  if (!isObject(json) || desc.typeName.startsWith("google.")) return json;
  const told: JsonObject = { ...json };
  for (const field of desc.fields) {
    const value = told[field.jsonName];
    if (value === undefined) continue;
    if (field.proto.options?.debugRedact === true) delete told[field.jsonName];
    else told[field.jsonName] = valueWithout(field, value);
  }
  return told;
}

function valueWithout({ fieldKind, message }: DescField, value: JsonValue): JsonValue {
  if (message === undefined) return value;
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(message, each));
  if (fieldKind !== "map" || !isObject(value)) return withoutSecrets(message, value);
  const entries = Object.entries(value).map(([key, each]) => [key, withoutSecrets(message, each)]);
  return Object.fromEntries(entries);
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
