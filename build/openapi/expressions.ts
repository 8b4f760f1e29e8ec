import type { DescField } from "@bufbuild/protobuf";
import type { JsonSchema } from "./json-schema.ts";

/**
 * Translates expressions of buf.validate that JSON Schema can express: a text that must match a pattern, a refused
 * value of an enum. Leaves all others out.
 */
export function expressionLimits(expressions: readonly string[], field: DescField): JsonSchema {
  return Object.assign({}, ...expressions.map((expression) => limitsOf(expression, field)));
}

function limitsOf(expression: string, field: DescField): JsonSchema {
  const patterns = matchedPatterns(expression);
  if (patterns !== undefined) return { pattern: patterns.join("|") };
  const refused = /^this != (\d+)$/.exec(expression)?.[1];
  const value = refused === undefined ? undefined : field.enum?.value[Number(refused)];
  return value === undefined ? {} : { not: { const: value.name } };
}

/** The alternative patterns of an expression, each anchored; undefined for an expression of another form. */
function matchedPatterns(expression: string): string[] | undefined {
  const patterns = expression
    .split(" || ")
    .map((part) => /^this\.matches\('(\^[^'\\]*\$)'\)$/.exec(part)?.[1]);
  return patterns.every((pattern) => pattern !== undefined) ? patterns : undefined;
}
