import {
  clone,
  create,
  type DescField,
  type DescMessage,
  type DescMethodUnary,
  getOption,
  isMessage,
  type JsonObject,
  type Message,
} from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { http } from "../../../gen/google/api/annotations_pb.js";
import { FieldBehavior, field_behavior } from "../../../gen/google/api/field_behavior_pb.js";
import type { CallError, FieldViolation } from "../../lib/errors.ts";
import { fieldOf } from "../../lib/field-mask.ts";
import { fieldsOf } from "../../wire/read-message.ts";
import { violationsMax } from "../../wire/reading.ts";

/** The path from a request to a part of one of its fields, in proto names. */
export type PartPath = readonly [field: string, ...inside: string[]];

const shownMax = 100;
const writable = new Map<DescMessage, ReadonlyMap<string, DescField>>();

/** Returns the faults in the paths of a request's `update_mask` (google.aip.dev/161). */
export function maskFaults(request: Message, desc: DescMessage): FieldViolation[] {
  const faults: FieldViolation[] = [];
  for (const path of new Set(pathsOf(request, desc))) {
    const description = path === "*" ? undefined : pathFault(desc, path);
    if (description !== undefined) faults.push({ field: "updateMask", description });
    if (faults.length === violationsMax) break;
  }
  return faults;
}

/** Returns the parts that the mask names, except parts of fields that the mask also names whole. */
export function partsNamed(request: Message, desc: DescMessage): PartPath[] {
  const paths = pathsOf(request, desc);
  // Few masks name parts.
  if (!paths.some((path) => path.includes("."))) return [];
  const whole = new Set(paths);
  if (whole.has("*")) return [];
  return [...whole].flatMap((path) => {
    const [field = "", ...inside] = path.split(".");
    return inside.length > 0 && !whole.has(field) ? [[field, ...inside]] : [];
  });
}

/**
 * Returns the request with the fields of these parts as in `base`, except for the parts, which come from the request.
 */
export function withParts<Request extends Message>(
  request: Request,
  desc: DescMessage,
  parts: readonly PartPath[],
  base: Readonly<Record<string, unknown>> = {},
): Request {
  const after = { ...request };
  for (const field of fieldsIn(desc, parts)) {
    const value = base[field.localName];
    fieldsOf(after)[field.localName] = isMessage(value, field.message)
      ? clone(field.message, value)
      : undefined;
  }
  const [from, to] = [reflect(desc, request), reflect(desc, after)];
  for (const part of parts) copyPart(from, to, part);
  return after;
}

/** Returns the request without the fields of these parts, so that the rest of the request can be judged as it is. */
export function withoutFieldsOf<Request extends Message>(
  request: Request,
  desc: DescMessage,
  parts: readonly PartPath[],
): Request {
  const after = { ...request };
  for (const field of fieldsIn(desc, parts)) fieldsOf(after)[field.localName] = undefined;
  return after;
}

/**
 * Returns the request with whole fields. When the mask names parts of a field, the rest of the field comes from
 * `stored`, in which the field has the same name and type. Throws the refusal that `refusalOf` returns for the whole
 * request. A request whose mask names no parts has already been judged, and is returned as it is.
 */
export function completed<Request extends Message>(
  request: Request,
  desc: DescMessage,
  stored: () => Message,
  refusalOf: (whole: Message) => CallError | undefined,
): Request {
  const parts = partsNamed(request, desc);
  if (parts.length === 0) return request;
  const paths = [...new Set(pathsOf(request, desc).map(fieldOf))];
  const whole = Object.assign(withParts(request, desc, parts, fieldsOf(stored())), {
    updateMask: create(FieldMaskSchema, { paths }),
  });
  const refusal = refusalOf(whole);
  if (refusal !== undefined) throw refusal;
  return whole;
}

/**
 * The JSON of an update with a mask of the fields that it gives, as REST makes it. The JSON of other requests, and of updates
 * that bring a mask, stays as it is.
 */
export function maskOfKeys(method: DescMethodUnary, json: JsonObject): JsonObject {
  const { pattern } = getOption(method, http);
  const isUpdate = (pattern.case === "patch" || pattern.case === "put") && "updateMask" in method.input.field;
  if (!isUpdate || "updateMask" in json || "update_mask" in json) return json;
  const isInPath = ({ name }: DescField) => pattern.value.includes(`{${name}}`);
  const given = method.input.fields.filter((field) => (json[field.jsonName] ?? json[field.name]) != null);
  const paths = given.filter((field) => !isInPath(field)).map(({ jsonName }) => jsonName);
  return { ...json, updateMask: paths.join(",") };
}

function pathsOf(request: Message, desc: DescMessage): readonly string[] {
  const mask = desc.field.updateMask === undefined ? undefined : fieldsOf(request).updateMask;
  return isMessage(mask, FieldMaskSchema) ? mask.paths : [];
}

function fieldsIn(
  desc: DescMessage,
  parts: readonly PartPath[],
): (DescField & { readonly fieldKind: "message" })[] {
  const names = new Set(parts.map(([name]) => name));
  return desc.fields.filter((field) => field.fieldKind === "message").filter(({ name }) => names.has(name));
}

function pathFault(desc: DescMessage, path: string): string | undefined {
  const shown = path.length > shownMax ? `${path.slice(0, shownMax)}…` : path;
  let message: DescMessage | undefined = desc;
  const whole: string[] = [];
  for (const name of path.split(".")) {
    if (message === undefined)
      return `names ${shown}, a part of ${whole.join(".")}: name ${whole.join(".")} and send it whole`;
    const field = writableFields(message).get(name);
    if (field === undefined) return `names ${shown}, which no update changes`;
    whole.push(name);
    message = isDivisible(field) ? field.message : undefined;
  }
  return undefined;
}

/**
 * Returns the fields of a message that a client may write, by name. Remembers them, because options are slow to read.
 */
function writableFields(desc: DescMessage): ReadonlyMap<string, DescField> {
  const known = writable.get(desc);
  if (known !== undefined) return known;
  const isWritable = (field: DescField) =>
    !getOption(field, field_behavior).includes(FieldBehavior.OUTPUT_ONLY);
  const fields = new Map(desc.fields.filter(isWritable).map((field) => [field.name, field]));
  writable.set(desc, fields);
  return fields;
}

/** Whether a mask can name parts of a field. It cannot for lists, maps and values such as times. */
function isDivisible(field: DescField): field is DescField & { readonly fieldKind: "message" } {
  return field.fieldKind === "message" && !field.message.typeName.startsWith("google.protobuf.");
}

/**
 * Copies one part from `from` to `to`. A part that `from` lacks is cleared in `to`. Clearing gives `to` no new
 * message, and switches no oneof to another member.
 */
function copyPart(from: ReflectMessage, to: ReflectMessage, [name, ...inside]: readonly string[]): void {
  const field = writableFields(from.desc).get(name ?? "");
  if (field === undefined) return;
  if (inside.length === 0) {
    if (from.isSet(field)) to.set(field, from.get(field));
    else to.clear(field);
    return;
  }
  if (!isDivisible(field) || !(from.isSet(field) || to.isSet(field))) return;
  const target = to.isSet(field) ? to.get(field) : reflect(field.message);
  copyPart(from.get(field), target, inside);
  to.set(field, target);
}
