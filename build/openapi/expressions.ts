import type { DescField } from "@bufbuild/protobuf";
import type { JsonSchema } from "./json-schema.ts";

/**
 * What expressions of buf.validate ask of a value, as far as JSON Schema has words for it: a text that matches, a value of
 * an enum that is refused. Of all others it says nothing.
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

/** The patterns of which one has to match, each of them anchored; undefined of an expression of another form. */
function matchedPatterns(expression: string): string[] | undefined {
  const patterns = expression
    .split(" || ")
    .map((part) => /^this\.matches\('(\^[^'\\]*\$)'\)$/.exec(part)?.[1]);
  return patterns.every((pattern) => pattern !== undefined) ? patterns : undefined;
}
