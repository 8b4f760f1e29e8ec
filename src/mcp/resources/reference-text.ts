/** The parts of a JSON schema that the reference tells of. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly readOnly?: boolean;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly oneOf?: readonly Schema[];
}

/** The parts of an operation that the reference tells of. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly "x-scope"?: string;
  readonly parameters?: readonly {
    readonly name?: string;
    readonly in?: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

/** The parts of the OpenAPI document that the reference is made of. */
export interface Document {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** One operation and its address. */
export interface Routed {
  readonly route: string;
  readonly operation: Operation;
}

/** A text that a model can hold has at most this many characters. */
export const partMax = 16_000;

/** What is left out of a part is at another address. */
const cutNote = "\n\n(Cut here; the types have pages of their own.)";

/** One group's operations: what each does, takes and answers. */
export function groupText(
  { components }: Document,
  { name, description = "" }: Document["tags"][number],
  operations: readonly Routed[],
): string {
  const parts = operations.map(({ route, operation }) => {
    const {
      operationId,
      summary,
      description: more = "",
      parameters = [],
      requestBody,
      responses,
    } = operation;
    const given = parameters.filter((each) => each.in === "path" || each.in === "query");
    const body = schemaOf(requestBody);
    const answer = schemaOf(responses["200"] ?? responses["202"]);
    return [
      `## ${operationId.replace("_", ".")}: ${route}`,
      `${summary}. ${oneLine(more)}`.trim(),
      ...given.map((each) => fieldLine(each.name ?? "", each.schema ?? {}, each.description, each.required)),
      ...fieldLines(components.schemas, body),
      `Answers ${typeName(answer ?? {})}${membersOf(components.schemas, answer)}.`,
    ].join("\n");
  });
  return bounded(`# ${name}\n${description}\n\n${parts.join("\n\n")}`);
}

/** One type and, as far as there is room, the types of its fields. */
export function typeText({ components }: Document, name: string): string | undefined {
  const { schemas } = components;
  if (!Object.hasOwn(schemas, name)) return undefined;
  const told = new Set([name]);
  const parts: string[] = [];
  let length = 0;
  // The set grows while it is walked, so that the nearest types come first.
  for (const each of told) {
    const part = oneType(schemas, each);
    length += part.length + 2;
    if (length > partMax) {
      const left = [...told].slice(parts.length).map((other) => `signpost://api/types/${other}`);
      return bounded(`${parts.join("\n\n")}\n\nFurther types: ${left.join(", ")}`);
    }
    parts.push(part);
    for (const other of namedIn(schemas[each] ?? {})) told.add(other);
  }
  return bounded(parts.join("\n\n"));
}

function oneType(schemas: Document["components"]["schemas"], name: string): string {
  const { description = "", enum: values, properties } = schemas[name] ?? {};
  const lines = Object.entries(properties ?? {}).map(([key, schema]) =>
    fieldLine(key, schema, schema.description, schemas[name]?.required?.includes(key)),
  );
  const named = values === undefined || description.includes("- `") ? [] : [values.join(", ")];
  return [`## ${name}`, ...(description === "" ? [] : [description]), ...named, ...lines].join("\n");
}

function fieldLines(schemas: Document["components"]["schemas"], body: Schema | undefined): string[] {
  const { properties = {}, required = [] } = resolved(schemas, body) ?? {};
  return Object.entries(properties).map(([key, schema]) =>
    fieldLine(key, schema, schema.description, required.includes(key)),
  );
}

function fieldLine(name: string, schema: Schema, description = "", required = false): string {
  const facts = [
    typeName(schema),
    ...(required ? ["required"] : []),
    ...(schema.readOnly ? ["answers only"] : []),
  ];
  return `- ${name} (${facts.join(", ")})${description === "" ? "" : `: ${oneLine(description)}`}`;
}

function oneLine(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(" ");
}

/** The fields of an answer in one line. */
function membersOf(schemas: Document["components"]["schemas"], answer: Schema | undefined): string {
  const members = Object.entries(resolved(schemas, answer)?.properties ?? {});
  if (members.length === 0) return "";
  return ` {${members.map(([key, schema]) => `${key}: ${typeName(schema)}`).join(", ")}}`;
}

function typeName({ $ref, type, format, items, additionalProperties, enum: values }: Schema): string {
  if ($ref !== undefined) return refName($ref);
  if (items !== undefined) return `list of ${typeName(items)}`;
  if (typeof additionalProperties === "object") return `map to ${typeName(additionalProperties)}`;
  if (values !== undefined && values.length <= 12) return values.map((value) => `\`${value}\``).join(" | ");
  return format === undefined ? (type ?? "any") : `${type} ${format}`;
}

function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

function resolved(
  schemas: Document["components"]["schemas"],
  schema: Schema | undefined,
): Schema | undefined {
  return schema?.$ref === undefined ? schema : schemas[refName(schema.$ref)];
}

function schemaOf(body: Body | undefined): Schema | undefined {
  return body?.content?.["application/json"]?.schema;
}

function namedIn({ $ref, items, additionalProperties, properties, oneOf = [] }: Schema): string[] {
  const inner = [
    ...(items === undefined ? [] : [items]),
    ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
    ...Object.values(properties ?? {}),
    ...oneOf,
  ];
  return [...($ref === undefined ? [] : [refName($ref)]), ...inner.flatMap(namedIn)];
}

function bounded(text: string): string {
  return text.length <= partMax ? text : `${text.slice(0, partMax - cutNote.length)}${cutNote}`;
}
