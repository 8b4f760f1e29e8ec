import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isJsonObject, type JsonObject } from "./flag-values.ts";
import { isNested, isTimestamp, shortName } from "./flags.ts";
import { kebabOfSnake } from "./names.ts";

/** A value of an answer that fits one cell, and its place. */
export interface CellField {
  /** The name in the form of a flag: `device.country`. */
  readonly name: string;
  readonly path: readonly DescField[];
}

/** An answer, or a part of it, with its descriptor. */
export interface Part {
  readonly schema: DescMessage;
  readonly json: JsonObject;
}

/** The list that an answer consists of, with its rows. */
export interface Listing {
  readonly list: DescField;
  readonly element: DescMessage;
  readonly rows: readonly JsonObject[];
}

/** Unwraps an answer while it only wraps one message. */
export function unwrap(part: Part): Part {
  const { schema, json } = part;
  if (schema.fields.length === 0 || !schema.fields.every(isNested)) return part;
  const present = schema.fields.filter(({ jsonName }) => isJsonObject(json[jsonName]));
  const [field] = present;
  const inner = field === undefined ? undefined : json[field.jsonName];
  if (present.length !== 1 || field?.message === undefined || !isJsonObject(inner)) return part;
  return unwrap({ schema: field.message, json: inner });
}

/** The list of an answer that has one list of messages and no id of its own; undefined for any other answer. */
export function listingOf({ schema, json }: Part): Listing | undefined {
  const lists = schema.fields.filter(isMessageList);
  const [list] = lists;
  const isRecord = schema.fields.some((field) => field.name === "id" || isNested(field));
  if (list?.message === undefined || lists.length !== 1 || isRecord) return undefined;
  return { list, element: list.message, rows: objectsIn(json[list.jsonName]) };
}

export function isMessageList(field: DescField): boolean {
  return field.fieldKind === "list" && field.message !== undefined && !isTimestamp(field);
}

export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/**
 * The fields of a message that fit cells: id and name first, then its values, those of embedded messages, and other
 * ids.
 */
export function cellFields(schema: DescMessage): CellField[] {
  const cells = schema.fields.flatMap((field): CellField[] => {
    if (isCell(field)) return [{ name: kebabOfSnake(field.name), path: [field] }];
    if (!isNested(field)) return [];
    return field.message.fields.filter(isCell).map((inner) => ({
      name: `${kebabOfSnake(field.name)}.${kebabOfSnake(inner.name)}`,
      path: [field, inner],
    }));
  });
  return cells
    .map((cell, index) => ({ cell, rank: rankOf(cell) * cells.length + index }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ cell }) => cell);
}

function isCell(field: DescField): boolean {
  if (isTimestamp(field) && field.fieldKind === "message") return true;
  if (field.message !== undefined || field.fieldKind === "map") return false;
  return field.enum !== undefined || field.scalar !== ScalarType.BYTES;
}

function rankOf({ path }: CellField): number {
  const name = path.at(-1)?.name ?? "";
  if (path.length > 1) return name.endsWith("id") ? 5 : 3;
  if (name === "id") return 0;
  if (name === "name" || name === "title") return 1;
  return isReference(name) ? 4 : 2;
}

function isReference(name: string): boolean {
  return name.endsWith("_id") || name.endsWith("_ids");
}

/** Whether a cell's text may be cut; ids are never cut, because people copy them. */
export function canCut({ path }: CellField): boolean {
  const name = path.at(-1)?.name ?? "";
  return name !== "id" && !isReference(name);
}

/** The value at a path as text for people; empty when it is absent. */
export function cellText({ path }: CellField, row: JsonObject): string {
  let value: unknown = row;
  for (const { jsonName } of path) value = isJsonObject(value) ? value[jsonName] : undefined;
  const field = path.at(-1);
  return field === undefined ? "" : displayText(field, value);
}

/** A value of a field as text for people. */
export function displayText(field: DescField, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map((item) => singleText(field, item)).join(", ");
  return singleText(field, value);
}

function singleText(field: DescField, value: unknown): string {
  if (typeof value === "object") return JSON.stringify(value);
  const text = String(value);
  if (field.enum !== undefined) {
    const known = field.enum.values.find(({ jsonName }) => jsonName === text);
    if (known === undefined) return text;
    return known.name.endsWith("UNSPECIFIED") ? "" : shortName(field.enum, known.name);
  }
  return isTimestamp(field) ? text.replace(/\.\d+(?=Z$)/, "") : text;
}
