import type { JsonSchema } from "./json-schema.ts";

const byFormat: Readonly<Record<string, string>> = {
  uuid: "0198f0c2-7d3a-7c55-9b1e-3f6a2d4c8e10",
  "date-time": "2026-01-31T09:30:00Z",
  email: "ada@example.com",
  uri: "https://example.com/menu",
  hostname: "links.example.com",
  byte: "AAEC",
};

/**
 * Makes a value that a schema allows. An object gets its required properties and those with an example. Undefined when
 * no value can be made up, such as for a text without a format.
 */
export function exampleOf(schema: JsonSchema, components: Readonly<Record<string, JsonSchema>>): unknown {
  const { $ref, ...own } = schema;
  if ($ref !== undefined) {
    const target = components[$ref.slice($ref.lastIndexOf("/") + 1)];
    return exampleOf({ ...target, ...own }, components);
  }
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  // The first value of an enum is the unspecified one.
  if (schema.enum !== undefined) return schema.enum[1] ?? schema.enum[0];
  return exampleOfType(schema, components);
}

function exampleOfType(schema: JsonSchema, components: Readonly<Record<string, JsonSchema>>): unknown {
  switch (schema.type) {
    case "string":
      return byFormat[schema.format ?? ""];
    case "boolean":
      return true;
    case "integer":
    case "number":
      return Math.max(
        schema.minimum ?? 1,
        schema.exclusiveMinimum === undefined ? 0 : schema.exclusiveMinimum + 1,
      );
    case "array": {
      const item = exampleOf(schema.items ?? {}, components);
      return item === undefined ? undefined : [item];
    }
    case "object":
      return exampleObject(schema, components);
    default:
      return undefined;
  }
}

function exampleObject(schema: JsonSchema, components: Readonly<Record<string, JsonSchema>>): unknown {
  const members: [string, unknown][] = [];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const required = schema.required?.includes(name) === true;
    if (property.readOnly === true || (!required && property.examples === undefined)) continue;
    const value = exampleOf(property, components);
    if (value === undefined && required) return undefined;
    if (value !== undefined) members.push([name, value]);
  }
  return members.length === 0 ? undefined : Object.fromEntries(members);
}
