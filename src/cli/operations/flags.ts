import { type DescEnum, type DescField, type DescMessage, getOption, ScalarType } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior } from "../../../gen/google/api/field_behavior_pb.js";
import { kebabOfSnake } from "./names.ts";

/** A flag that fills one field of a request. */
export interface Flag {
  /** The flag's name without the dashes: `payload.client-redirect.destination`. */
  readonly name: string;
  /** The fields from the request message down to the one that the flag fills. */
  readonly path: readonly DescField[];
  readonly field: DescField;
  /** The keys inside of a free JSON object: `--visitor.email` has `email`. */
  readonly keys: readonly string[];
}

/** Deeper flags are not listed, but they work. */
const listedDepthMax = 6;

/** Every flag of a request, nested flags at their place, in the order of the fields. */
export function flagsOf(input: DescMessage): Flag[] {
  return nestedFlags(input, []);
}

function nestedFlags(message: DescMessage, above: readonly DescField[]): Flag[] {
  return message.fields.flatMap((field) => {
    const path = [...above, field];
    const isRepeating = above.some((each) => each.message !== undefined && each.message === field.message);
    if (isNested(field) && !isRepeating && path.length < listedDepthMax)
      return nestedFlags(field.message, path);
    return [{ name: flagName(path), path, field, keys: [] }];
  });
}

/** Finds the flag of a name without its dashes; undefined when it leads to no field. */
export function findFlag(input: DescMessage, name: string): Flag | undefined {
  const steps = name.split(".");
  const path: DescField[] = [];
  let message: DescMessage | undefined = input;
  while (message !== undefined && steps.length > 0) {
    const step = steps.shift();
    const field: DescField | undefined = message.fields.find((each) =>
      [kebabOfSnake(each.name), each.name, each.jsonName].includes(step ?? ""),
    );
    if (field === undefined) return undefined;
    path.push(field);
    message = isNested(field) ? field.message : undefined;
  }
  const field = path.at(-1);
  if (field === undefined || steps.includes("")) return undefined;
  if (steps.length > 0 && !isFreeObject(field)) return undefined;
  return { name: flagName(path), path, field, keys: steps };
}

/** Finds the flag for a field that the service names by JSON names (`payload.clientRedirect.destination`). */
export function findFlagOfPath(input: DescMessage, jsonPath: string): Flag | undefined {
  return jsonPath.includes("[") ? undefined : findFlag(input, jsonPath);
}

export function flagName(path: readonly DescField[]): string {
  return path.map(({ name }) => kebabOfSnake(name)).join(".");
}

/** Whether a field has flags below it: it is a single message of ours. */
export function isNested(field: DescField): field is DescField & { fieldKind: "message" } {
  return field.fieldKind === "message" && !field.message.typeName.startsWith("google.protobuf.");
}

/** Whether a field holds a JSON object of any shape. */
export function isFreeObject(field: DescField): boolean {
  return field.fieldKind === "message" && field.message.typeName === "google.protobuf.Struct";
}

export function isTimestamp(field: DescField): boolean {
  return field.message?.typeName === "google.protobuf.Timestamp";
}

export function isBoolean(field: DescField): boolean {
  return field.fieldKind === "scalar" && field.scalar === ScalarType.BOOL;
}

/** Whether the service refuses a request without the field. */
export function isRequired(field: DescField): boolean {
  return getOption(field, field_behavior).includes(FieldBehavior.REQUIRED);
}

/** The names that an enum's flag takes, without their shared prefix and without the unspecified value. */
export function shortNames(schema: DescEnum): string[] {
  return schema.values
    .filter(({ name }) => !name.endsWith("UNSPECIFIED"))
    .map(({ name }) => shortName(schema, name));
}

/** An enum value's name without the prefix that all values share: `JOB_STATUS_RUNNING` becomes `RUNNING`. */
export function shortName({ sharedPrefix = "" }: DescEnum, name: string): string {
  const isPrefixed = name.toLowerCase().startsWith(sharedPrefix.toLowerCase());
  return isPrefixed ? name.slice(sharedPrefix.length) : name;
}

/** The placeholder of a flag's value in the help: `<text>`, `<ACTIVE|PAUSED>`, empty for booleans. */
export function placeholder({ field, keys }: Flag): string {
  if (isBoolean(field)) return "";
  if (field.fieldKind === "map") return "<key=value>";
  if (isFreeObject(field)) return keys.length > 0 ? "<text>" : "<key=value|json>";
  if (field.enum !== undefined) return enumPlaceholder(field.enum);
  if (isTimestamp(field)) return "<time>";
  if (field.message !== undefined)
    return field.message.typeName === "google.protobuf.FieldMask" ? "<fields>" : "<json>";
  return field.fieldKind === "list" ? `<${scalarWord(field.scalar)},…>` : `<${scalarWord(field.scalar)}>`;
}

function enumPlaceholder(schema: DescEnum): string {
  const names = shortNames(schema);
  const shown = names.slice(0, 8).join("|");
  return `<${names.length > 8 ? `${shown}|…` : shown}>`;
}

function scalarWord(scalar: ScalarType | undefined): string {
  switch (scalar) {
    case ScalarType.STRING:
      return "text";
    case ScalarType.BYTES:
      return "@file";
    default:
      return "number";
  }
}
