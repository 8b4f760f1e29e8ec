import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.js";
import { isSecret } from "../../src/rpc/access.ts";
import type { Comment, Commented } from "../openapi/comments.ts";
import type { JsonSchema } from "../openapi/json-schema.ts";
import { componentName, createSchemas } from "../openapi/schemas.ts";

/** A schema that stands alone: what it refers to is in its own `$defs`. */
export interface WholeSchema extends JsonSchema {
  readonly type: "object";
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

/** Makes the schemas of a tool's arguments and of its answer. */
export interface ToolSchemas {
  /** The arguments. What only the service says is left out, such as ids of new records, and so are unspecified values. */
  input(desc: DescMessage): WholeSchema;
  /** The answer without its secrets. Its enums stay open, since later versions add values. */
  output(desc: DescMessage): WholeSchema;
}

/** Makes the schemas of all tools. `inputs` and `outputs` are the messages of their operations. */
export function createToolSchemas(
  commentOf: (desc: Commented) => Comment,
  inputs: readonly DescMessage[],
  outputs: readonly DescMessage[],
): ToolSchemas {
  const sent = reachable(inputs);
  const answered = reachable(outputs);
  const replaced = new Map();
  const input = createSchemas({
    commentOf,
    sent,
    answered: new Set(),
    hidden: fieldsOf(sent, isLeftOut),
    replaced,
    names: "without zero",
  });
  const output = createSchemas({
    commentOf: (desc) => ({ summary: commentOf(desc).summary, rest: "", errors: "" }),
    sent: new Set(),
    answered,
    hidden: fieldsOf(answered, isSecret),
    replaced,
    names: "open",
  });
  return {
    input: (desc) => alone(input, desc, notesOfInput),
    output: (desc) => alone(output, desc, notesOfOutput),
  };
}

/** The mask derives from the arguments that are given. */
function isLeftOut(field: DescField): boolean {
  if (field.message?.typeName === "google.protobuf.FieldMask") return true;
  return getOption(field, field_behavior).includes(FieldBehavior.OUTPUT_ONLY);
}

const notesOfInput = new Set(["readOnly", "writeOnly", "x-enum-varnames", "discriminator"]);
const notesOfOutput = new Set([
  ...notesOfInput,
  "examples",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "maxItems",
]);

const componentPrefix = "#/components/schemas/";

/** The schema of a message with the schemas that it refers to. Keys named in `dropped` are left out. */
function alone(
  schemas: ReturnType<typeof createSchemas>,
  desc: DescMessage,
  dropped: ReadonlySet<string>,
): WholeSchema {
  schemas.message(desc);
  const components = schemas.components();
  const needed = new Map<string, JsonSchema>();
  const copied = (value: unknown, isNamed: boolean): unknown => {
    if (Array.isArray(value)) return value.map((each) => copied(each, false));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).flatMap(([key, each]): [string, unknown][] => {
      // The keys of `properties` are names of fields.
      if (!isNamed && dropped.has(key)) return [];
      if (key === "$ref" && typeof each === "string")
        return [[key, need(each.slice(componentPrefix.length))]];
      return [[key, copied(each, !isNamed && key === "properties")]];
    });
    return Object.fromEntries(entries);
  };
  const need = (name: string): string => {
    if (!needed.has(name)) {
      // Registered before it is made, so that schemas may refer to themselves.
      needed.set(name, {});
      needed.set(name, copied(components[name], false) as JsonSchema);
    }
    return `#/$defs/${name}`;
  };
  const root = copied(components[componentName(desc)], false) as WholeSchema;
  if (needed.size === 0) return root;
  return { ...root, $defs: Object.fromEntries([...needed].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function reachable(roots: readonly DescMessage[]): Set<DescMessage> {
  const found = new Set<DescMessage>();
  const visit = (message: DescMessage): void => {
    if (found.has(message)) return;
    found.add(message);
    for (const field of message.fields) if (field.message !== undefined) visit(field.message);
  };
  for (const root of roots) visit(root);
  return found;
}

function fieldsOf(
  messages: ReadonlySet<DescMessage>,
  isMeant: (field: DescField) => boolean,
): Set<DescField> {
  return new Set([...messages].flatMap(({ fields }) => fields.filter(isMeant)));
}
