import { create, type DescField, type DescMessage, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { type CsvCell, writeCsv } from "./csv.ts";

/**
 * Messages as a table: a column for each field that is a single value, `device.country` and the like for those embedded
 * objects that are named, and one with JSON for each named list. Columns follow from what is asked for, never from the rows.
 */
export function messagesCsv<Desc extends DescMessage>(
  desc: Desc,
  messages: readonly MessageInitShape<Desc>[],
  embedded: ReadonlySet<string>,
): string {
  const columns = desc.fields.flatMap((field) => columnsOf(field, embedded));
  const rows = messages.map((message) => {
    const json = toJson(desc, create(desc, message), { alwaysEmitImplicit: true });
    return columns.map((path) => cellAt(json, path));
  });
  return writeCsv(
    columns.map((path) => path.join(".")),
    rows,
  );
}

type Path = readonly string[];

function columnsOf(field: DescField, embedded: ReadonlySet<string>): Path[] {
  if (isSingleValue(field)) return [[field.jsonName]];
  if (!embedded.has(field.jsonName)) return [];
  return field.fieldKind === "message" ? columnsIn(field.jsonName, field.message) : [[field.jsonName]];
}

// Lists and objects inside embedded objects are embedded on their own calls only.
function columnsIn(name: string, message: DescMessage): Path[] {
  return message.fields.filter(isSingleValue).map((field) => [name, field.jsonName]);
}

function isSingleValue(field: DescField): boolean {
  return (
    field.fieldKind === "scalar" ||
    field.fieldKind === "enum" ||
    (field.fieldKind === "message" && field.message.typeName === TimestampSchema.typeName)
  );
}

function cellAt(json: unknown, path: Path): CsvCell {
  let value = json;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return undefined;
    // Names come from descriptors, not from callers.
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  if (typeof value === "object") return JSON.stringify(value);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : undefined;
}
