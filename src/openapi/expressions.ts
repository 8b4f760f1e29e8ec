import type { DescField } from "@bufbuild/protobuf";
import type { JsonSchema } from "./json-schema.ts";

/**
 * What expressions of buf.validate ask of a value, as far as JSON Schema has words for it: a text that matches, a value of
 * an enum that is refused, texts in a message that must not be empty. Of all others it says nothing.
 */
export function expressionLimits(expressions: readonly string[], field: DescField): JsonSchema {
  let schema: JsonSchema = {};
  for (const expression of expressions) {
    const { required = [], properties = {}, ...limits } = limitsOf(expression, field);
    schema = { ...schema, ...limits };
    if (required.length === 0) continue;
    schema = {
      ...schema,
      required: [...(schema.required ?? []), ...required],
      properties: { ...schema.properties, ...properties },
    };
  }
  return schema;
}

function limitsOf(expression: string, field: DescField): JsonSchema {
  const patterns = matchedPatterns(expression);
  if (patterns !== undefined) return { pattern: patterns.join("|") };
  const refused = /^this != (\d+)$/.exec(expression)?.[1];
  const value = refused === undefined ? undefined : field.enum?.value[Number(refused)];
  if (value !== undefined) return { not: { const: value.name } };
  const needed = /^this\.(\w+) != ''$/.exec(expression)?.[1];
  const name = field.message?.fields.find((each) => each.name === needed)?.jsonName;
  return name === undefined ? {} : { required: [name], properties: { [name]: { minLength: 1 } } };
}

/** The patterns of which one has to match, each of them anchored; undefined of an expression of another form. */
function matchedPatterns(expression: string): string[] | undefined {
  const patterns = expression
    .split(" || ")
    .map((part) => /^this\.matches\('(\^[^'\\]*\$)'\)$/.exec(part)?.[1]);
  return patterns.every((pattern) => pattern !== undefined) ? patterns : undefined;
}
