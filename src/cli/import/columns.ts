import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { type JsonObject, jsonOfText, merge, ownProperty } from "../operations/flag-values.ts";
import { type Flag, flagsOf, isBoolean, isRequired } from "../operations/flags.ts";
import { closest } from "../operations/names.ts";
import { UsageError } from "../outcome.ts";

/** A fault of a cell. The column is empty when the row as a whole is wrong. */
export interface CellFault {
  readonly column: string;
  readonly description: string;
}

/** A row as the request that it stands for. */
export interface RowRequest {
  readonly request: JsonObject;
  /** The path or the id of the link's directory; empty for none. */
  readonly directory: string;
  readonly faults: readonly CellFault[];
}

export interface Columns {
  read(cells: readonly string[]): RowRequest;
  /** The column that filled a field, which is named as the service names it: `tags[2]`, `metadata.colour`. */
  columnOf(field: string): string;
}

/** The column that names a directory by its path or its id. No field of the request has this name. */
export const directoryColumn = "directory";

interface Column {
  readonly header: string;
  readonly field: DescField;
  /** The key of a map's value; undefined for whole fields. */
  readonly key: string | undefined;
}

/** The columns that a file may have, by the fields of the request. */
export function columnNames(schema: DescMessage): string[] {
  const names = usableFlags(schema).map(({ name, field }) =>
    field.fieldKind === "map" ? `${name}.<key>` : name,
  );
  return [...names, directoryColumn];
}

/** Reads the first row of a file. Throws a UsageError that names the column which is unknown, missing or there twice. */
export function readColumns(schema: DescMessage, headers: readonly string[]): Columns {
  const columns = headers.map((header, index) => columnOfHeader(schema, header.trim(), index));
  const places = columns.map(({ field, key = "" }) => `${field.jsonName}.${key}`);
  const twice = columns.find((_, index) => places.indexOf(places[index] ?? "") < index);
  if (twice !== undefined)
    throw wrong(`column ${JSON.stringify(twice.header)} fills a field that another column fills already`);
  const missing = schema.fields.filter(
    (field) => isRequired(field) && !columns.some((column) => column.field === field),
  );
  if (missing.length > 0)
    throw wrong(`there is no column ${missing.map(({ jsonName }) => jsonName).join(", ")}`);
  return {
    read: (cells) => readRow(columns, cells),
    columnOf: (field) => {
      const [root = ""] = field.split(/[.[]/, 1);
      const ofField = columns.filter((column) => column.field.jsonName === root);
      const [only] = ofField;
      if (only === undefined || ofField.length > 1) return field;
      return only.header;
    },
  };
}

function columnOfHeader(schema: DescMessage, header: string, index: number): Column {
  if (header === "") throw wrong(`column ${index + 1} has no name`);
  const dot = header.indexOf(".");
  const [name, key] = dot === -1 ? [header, undefined] : [header.slice(0, dot), header.slice(dot + 1)];
  const wanted = plain(name) === directoryColumn ? "directoryid" : plain(name);
  const flag = usableFlags(schema).find((each) => plain(each.name) === wanted);
  if (flag !== undefined && (key === undefined || (flag.field.fieldKind === "map" && key !== "")))
    return { header, field: flag.field, key };
  const meant = closest(header, columnNames(schema));
  throw wrong(
    meant === undefined
      ? `there is no column ${JSON.stringify(header)}; there are ${columnNames(schema).join(", ")}`
      : `there is no column ${JSON.stringify(header)}; did you mean "${meant}"?`,
  );
}

/** Names in any writing are the same: `expiresAt`, `expires_at`, `Expires at`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, "");
}

/** A job's links wait for no images. */
function usableFlags(schema: DescMessage): Flag[] {
  return flagsOf(schema).filter(({ field }) => field.name !== "wait_for_qrcode");
}

function readRow(columns: readonly Column[], cells: readonly string[]): RowRequest {
  const faults: CellFault[] = [];
  let request: JsonObject = {};
  let directory = "";
  const surplus = cells.findIndex((cell, index) => index >= columns.length && cell !== "");
  if (surplus !== -1) {
    const description = `has ${cells.length} cells, but the file has ${columns.length} columns`;
    faults.push({ column: "", description });
  }
  for (const [index, column] of columns.entries()) {
    const text = cells[index]?.trim() ?? "";
    if (text === "") continue;
    if (plain(column.header) === directoryColumn) {
      directory = text;
      continue;
    }
    try {
      const value = column.key === undefined ? cellValue(column.field, text) : ownProperty(column.key, text);
      // Columns of one map are joined.
      const joined = merge(request, { [column.field.jsonName]: value }, false);
      request = joined as JsonObject;
    } catch (error) {
      const description = error instanceof Error ? error.message : String(error);
      faults.push({ column: column.header, description });
    }
  }
  return { request, directory, faults };
}

/** Spreadsheets write TRUE and FALSE. Lists are split at semicolons too, which need no quotes. */
function cellValue(field: DescField, text: string): unknown {
  if (isBoolean(field)) return jsonOfText(field, text.toLowerCase(), noFile);
  const isTextList = field.fieldKind === "list" && field.message === undefined;
  if (!isTextList || text.startsWith("[")) return jsonOfText(field, text, noFile);
  return text
    .split(/[,;]/)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function noFile(): never {
  throw new Error("must not name a file");
}

function wrong(message: string): UsageError {
  return new UsageError(message, "links import");
}
