import { type DescEnum, type DescField, type DescMessage, getOption, ScalarType } from "@bufbuild/protobuf";
import { message as messageOption, oneof as oneofOption } from "../../gen/buf/validate/validate_pb.js";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.js";
import { example } from "../../gen/signpost/options/v1/documentation_pb.js";
import type { Comment, Commented } from "./comments.ts";
import { wholeText } from "./comments.ts";
import { type JsonSchema, present, reference } from "./json-schema.ts";
import { hasPresence, limitsOf, orEmptyPattern } from "./limits.ts";
import { wellKnownSchema } from "./well-known.ts";

/** Makes schemas of messages and enums, and keeps those that the document refers to. */
export interface Schemas {
  /**
   * A reference to a message's schema, or the schema itself when protobuf's JSON has a special form for the message.
   */
  message(desc: DescMessage): JsonSchema;
  /** The schema of one field's value, with its description and limits. */
  field(field: DescField): JsonSchema;
  isRequired(field: DescField): boolean;
  /** Whether the field is left out of bodies. */
  isHidden(field: DescField): boolean;
  /** Every schema referred to so far, sorted by name. */
  components(): Record<string, JsonSchema>;
}

export interface SchemasOptions {
  readonly commentOf: (desc: Commented) => Comment;
  /** Messages that callers send. In all other messages every field without presence is always present. */
  readonly sent: ReadonlySet<DescMessage>;
  /** Messages that occur in answers. */
  readonly answered: ReadonlySet<DescMessage>;
  /** Fields outside of the JSON body: those of the path, and the mask, which derives from the body's keys. */
  readonly hidden: ReadonlySet<DescField>;
  /** Properties that replace those of a message, by the name of the field. */
  readonly replaced: ReadonlyMap<string, JsonSchema>;
  /**
   * Which values of enums are listed: all of them, all but the unspecified one, or none, with their names in the description,
   * for readers that must bear values of later versions.
   */
  readonly names?: "all" | "without zero" | "open";
}

/**
 * Makes the schemas of one document. Throws when two types have the same name, because clients use the name as
 * identity.
 */
export function createSchemas(options: SchemasOptions): Schemas {
  const { component, components } = createComponents();
  const { names = "all" } = options;

  function message(desc: DescMessage): JsonSchema {
    return wellKnownSchema(desc) ?? component(desc, () => objectSchema(desc));
  }

  function objectSchema(desc: DescMessage): JsonSchema {
    const fields = desc.fields.filter((field) => !options.hidden.has(field));
    const sent = options.sent.has(desc);
    const required = fields.filter((each) => isRequired(each) || (!sent && !hasPresence(each)));
    const rules = getOption(desc, messageOption).cel.map((rule) => rule.message);
    return present<JsonSchema>({
      type: "object",
      description: textWith(wholeText(options.commentOf(desc)), rules),
      required: required.length === 0 ? undefined : required.map(({ jsonName }) => jsonName),
      properties: Object.fromEntries(fields.map((each) => [each.jsonName, field(each)])),
      ...choiceOf(desc),
    });
  }

  function field(desc: DescField): JsonSchema {
    const limits = limitsOf(desc);
    const replaced = options.replaced.get(desc.toString().replace(/^field /, ""));
    const element = {
      ...elementSchema(desc),
      ...(desc.enum === undefined ? limits.element : namesIn(limits.element, desc.enum, names)),
    };
    const value =
      limits.mayBeEmpty && options.answered.has(desc.parent) ? orEmpty(limits.value) : limits.value;
    return present<JsonSchema>({
      ...(replaced ?? valueSchema(desc, element, limits.key)),
      ...(desc.enum === undefined || desc.fieldKind !== "enum" ? value : namesIn(value, desc.enum, names)),
      ...notesOf(desc, wholeText(options.commentOf(desc))),
    });
  }

  function elementSchema(desc: DescField): JsonSchema {
    const { enum: enumeration, message: child, scalar } = desc;
    if (enumeration !== undefined)
      return component(enumeration, () => enumSchema(enumeration, options.commentOf, names));
    if (child !== undefined) return message(child);
    return scalarSchema(scalar, options.answered.has(desc.parent));
  }

  return { message, field, isRequired, isHidden: (desc) => options.hidden.has(desc), components };
}

/** Keeps the schemas that have a name, each made once. */
function createComponents() {
  const made = new Map<string, { readonly desc: DescMessage | DescEnum; schema: JsonSchema }>();
  return {
    /** A reference to a type's schema, which is made when it is first referred to. */
    component(desc: DescMessage | DescEnum, make: () => JsonSchema): JsonSchema {
      const name = componentName(desc);
      const known = made.get(name);
      if (known !== undefined && known.desc.typeName !== desc.typeName) {
        throw new Error(`${known.desc.typeName} and ${desc.typeName} would both be called ${name}`);
      }
      if (known === undefined) {
        const entry = { desc, schema: {} };
        // Registered before it is made, so that messages may contain themselves.
        made.set(name, entry);
        entry.schema = make();
      }
      return reference("schemas", name);
    },
    components(): Record<string, JsonSchema> {
      const sorted = [...made].sort(([a], [b]) => (a < b ? -1 : 1));
      return Object.fromEntries(sorted.map(([name, { schema }]) => [name, schema]));
    },
  };
}

/** What a field's schema says beside the form of its value. */
function notesOf(desc: DescField, text: string) {
  const behaviors = getOption(desc, field_behavior);
  return {
    description: textWith(
      text,
      behaviors.includes(FieldBehavior.IMMUTABLE) ? ["It cannot be changed later."] : [],
    ),
    deprecated: desc.deprecated ? true : undefined,
    readOnly: behaviors.includes(FieldBehavior.OUTPUT_ONLY) ? true : undefined,
    writeOnly: behaviors.includes(FieldBehavior.INPUT_ONLY) ? true : undefined,
    examples: examplesOf(desc),
  };
}

function isRequired(desc: DescField): boolean {
  return getOption(desc, field_behavior).includes(FieldBehavior.REQUIRED) || limitsOf(desc).required;
}

/** The schema of a field of such elements: a list, a map, or one of them. */
function valueSchema({ fieldKind }: DescField, element: JsonSchema, keyLimits: JsonSchema): JsonSchema {
  if (fieldKind === "list") return { type: "array", items: element };
  if (fieldKind !== "map") return element;
  const propertyNames = Object.keys(keyLimits).length === 0 ? undefined : keyLimits;
  return present<JsonSchema>({ type: "object", propertyNames, additionalProperties: element });
}

function enumSchema(
  desc: DescEnum,
  commentOf: SchemasOptions["commentOf"],
  names: SchemasOptions["names"],
): JsonSchema {
  const values = names === "all" ? desc.values : desc.values.filter(({ number }) => number !== 0);
  const text = wholeText(commentOf(desc));
  if (names === "open")
    return {
      type: "string",
      description: `${text} One of ${values.map(({ name }) => name).join(", ")}.`.trim(),
    };
  const lines = values.flatMap((value) => {
    const line = wholeText(commentOf(value));
    return line === "" ? [] : [`- \`${value.name}\`: ${line}`];
  });
  return {
    type: "string",
    description: [text, lines.join("\n")].filter((part) => part !== "").join("\n\n"),
    enum: [...new Set(values.map(({ name }) => name))],
    ...constantNames(desc),
  };
}

/** The limits of an enum's field, without names that the schema does not list. */
function namesIn(limits: JsonSchema, desc: DescEnum, names: SchemasOptions["names"]): JsonSchema {
  if (names === "all") return limits;
  const { enum: listed, not: _, ...others } = limits;
  if (names === "open" || listed === undefined) return others;
  return { ...others, enum: listed.filter((name) => name !== desc.value[0]?.name) };
}

/**
 * Gives an enum's constants unique names. Values of an enum inside a message are short, such as `TYPE_BADGE`. Other
 * messages have equal ones, and Go would have to keep both in one package.
 */
function constantNames({ parent, values }: DescEnum): JsonSchema {
  if (parent === undefined) return {};
  const prefix = parent.name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toUpperCase();
  return { "x-enum-varnames": values.map(({ name }) => `${prefix}_${name}`) };
}

/**
 * The component name of a type, without its package: `signpost.v1.CustomDomain.Status` becomes `CustomDomainStatus`.
 */
export function componentName({ typeName, file }: DescMessage | DescEnum): string {
  return typeName.slice(file.proto.package.length + 1).replaceAll(".", "");
}

function scalarSchema(scalar: ScalarType | undefined, answered: boolean): JsonSchema {
  switch (scalar) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BYTES:
      return { type: "string", format: "byte", contentEncoding: "base64" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.FLOAT:
      return { type: "number", format: "float" };
    case ScalarType.DOUBLE:
      return { type: "number", format: "double" };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return { type: "integer", format: "int32" };
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", minimum: 0, maximum: 4_294_967_295 };
    default:
      // Answers hold text, because JSON readers lose digits of large numbers; requests may hold text too.
      return answered
        ? { type: "string", format: "int64", pattern: "^-?[0-9]{1,20}$" }
        : {
            type: "integer",
            format: "int64",
            minimum: Number.MIN_SAFE_INTEGER,
            maximum: Number.MAX_SAFE_INTEGER,
          };
  }
}

const uuidPattern = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";

/**
 * Allows the empty text. Requests treat a format as an annotation, but clients parse answers by it, and an empty text
 * is no UUID.
 */
function orEmpty({ format, ...limits }: JsonSchema): JsonSchema {
  return format === "uuid" ? { ...limits, pattern: orEmptyPattern(uuidPattern) } : limits;
}

/** A message that consists of one choice has at most one key. */
function choiceOf(desc: DescMessage): JsonSchema {
  const [only] = desc.oneofs.filter((oneof) => oneof.fields.length > 1);
  const isChoice = only !== undefined && only.fields.length === desc.fields.length;
  if (!isChoice) return {};
  if (!getOption(only, oneofOption).required) return { maxProperties: 1 };
  return { minProperties: 1, maxProperties: 1 };
}

function textWith(text: string, rules: readonly string[]): string | undefined {
  const sentences = rules.map((rule) => {
    const sentence = rule.charAt(0).toUpperCase() + rule.slice(1);
    return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
  });
  const whole = [text, ...sentences].filter((part) => part !== "").join(" ");
  return whole === "" ? undefined : whole;
}

function examplesOf(field: DescField): unknown[] | undefined {
  const texts = getOption(field, example);
  if (texts.length === 0) return undefined;
  const values = texts.map((text) => {
    const isText = field.scalar === ScalarType.STRING || field.enum !== undefined;
    return isText && field.fieldKind !== "map" ? text : JSON.parse(text);
  });
  return field.fieldKind === "list" ? [values] : values;
}
