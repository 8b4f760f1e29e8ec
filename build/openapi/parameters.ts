import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Binding } from "../../src/rest/binding.ts";
import type { ParameterObject } from "./headers.ts";
import { present } from "./json-schema.ts";
import type { Schemas } from "./schemas.ts";
import { wellKnownSchema } from "./well-known.ts";

/**
 * The path of a binding in OpenAPI's form. Throws when a variable takes several components, which OpenAPI cannot
 * express.
 */
export function pathOf({ template, variables }: Binding): string {
  const components = template.segments.map((segment, index) => {
    if (segment.kind === "literal") return encodeURIComponent(segment.text);
    const variable = variables.find(({ start, end }) => start === index && end === index + 1);
    if (variable === undefined) throw new Error(`"${template.text}" has no form in OpenAPI`);
    return `{${nameOf(variable.fields)}}`;
  });
  return `/${components.join("/")}${template.verb === "" ? "" : `:${template.verb}`}`;
}

/**
 * The path and query parameters of a binding: first the path's, in its order, then the query's, in the order of the
 * fields.
 */
export function parametersOf(binding: Binding, schemas: Schemas): ParameterObject[] {
  const path = binding.variables.map(({ fields }) => parameter("path", fields, schemas));
  const taken = new Set<DescField>(binding.variables.flatMap(({ fields }) => fields.slice(-1)));
  if (binding.maskField !== undefined) taken.add(binding.maskField);
  const { body } = binding;
  if (body.kind === "message" || (body.kind === "raw" && body.field === undefined)) return path;
  if (body.kind !== "none" && body.field !== undefined) taken.add(body.field);
  return [...path, ...queryParameters(binding.method.input, [], taken, schemas)];
}

function queryParameters(
  message: DescMessage,
  above: readonly DescField[],
  taken: ReadonlySet<DescField>,
  schemas: Schemas,
): ParameterObject[] {
  return message.fields.flatMap((field): ParameterObject[] => {
    if (taken.has(field) || above.includes(field) || field.fieldKind === "map") return [];
    const path = [...above, field];
    if (field.message === undefined || wellKnownSchema(field.message)?.type === "string") {
      return [parameter("query", path, schemas)];
    }
    // A message is given field by field; a list of messages has no form in a query.
    const isObject = field.fieldKind === "message" && wellKnownSchema(field.message) === undefined;
    return isObject ? queryParameters(field.message, path, taken, schemas) : [];
  });
}

function parameter(where: "path" | "query", path: readonly DescField[], schemas: Schemas): ParameterObject {
  const field = path.at(-1);
  if (field === undefined) throw new Error("a parameter without a field");
  const { description, deprecated, readOnly: _, writeOnly: __, ...schema } = schemas.field(field);
  const required = where === "path" || path.every((each) => schemas.isRequired(each));
  return present<ParameterObject>({
    name: nameOf(path),
    in: where,
    description,
    required: required ? true : undefined,
    deprecated,
    schema,
  });
}

function nameOf(path: readonly DescField[]): string {
  return path.map(({ jsonName }) => jsonName).join(".");
}
