/** The parts of a JSON schema that the reference tells of. */
interface Schema {
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
interface Operation {
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
interface Routed {
  readonly route: string;
  readonly operation: Operation;
}

/** A text that a model can hold has at most this many characters. */
const partMax = 16_000;

/** What is left out of a part is at another address. */
const cutNote = "\n\n(Cut here; the types have pages of their own.)";

/** One group's operations: what each does, takes and answers. */
function groupText(
  { components }: Document,
  { name, description = "" }: Document["tags"][number],
  operations: readonly Routed[],
  toolOf: (operationId: string) => string | undefined,
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
    const tool = toolOf(operationId);
    return [
      `## ${tool ?? operationId.replace("_", ".")}: ${route}`,
      `${summary}. ${oneLine(more)}`.trim(),
      ...given.map((each) => fieldLine(each.name ?? "", each.schema ?? {}, each.description, each.required)),
      ...fieldLines(components.schemas, body),
      `Answers ${typeName(answer ?? {})}${membersOf(components.schemas, answer)}.`,
    ].join("\n");
  });
  return bounded(`# ${name}\n${description}\n\n${parts.join("\n\n")}`);
}

/** The text of one type, and the types that its fields name. */
interface TypeText {
  readonly text: string;
  readonly named: readonly string[];
}

/** The texts of all types, by name. */
function typeTexts({ components: { schemas } }: Document): Map<string, TypeText> {
  return new Map(
    Object.entries(schemas).map(([name, schema]): [string, TypeText] => [
      name,
      { text: oneType(schemas, name), named: [...new Set(namedIn(schema))] },
    ]),
  );
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

/** The whole reference: an index, the pages of groups by their names in addresses, and the texts of types. */
interface Reference {
  readonly index: string;
  readonly groups: Readonly<Record<string, string>>;
  readonly types: Readonly<Record<string, TypeText>>;
}

/** Cuts the document into parts that a model can hold. `toolOf` names the tool of an operation. */
export function referenceOf(
  document: Document,
  toolOf: (operationId: string) => string | undefined,
): Reference {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Routed => ({ route: `${method.toUpperCase()} ${path}`, operation }),
    ),
  );
  const groups = document.tags.map((tag) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(tag.name));
    const path = tag.name.toLowerCase().replaceAll(" ", "-");
    const about = oneLine(tag.description ?? "");
    return { path, text: groupText(document, tag, own, toolOf), line: `${own.length} operations. ${about}` };
  });
  return {
    index: [
      "# The API",
      "Operations stand in groups. Read the page of the group that you need. The types that it names have pages at",
      "signpost://api/types/{name}, such as signpost://api/types/WorkflowStepPayload.",
      "",
      ...groups.map(({ path, line }) => `- signpost://api/${path}: ${line}`),
    ].join("\n"),
    groups: Object.fromEntries(groups.map(({ path, text }) => [path, text])),
    types: Object.fromEntries(typeTexts(document)),
  };
}
