import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { displayText, isMessageList, objectsIn } from "../operations/answer-fields.ts";
import { isJsonObject, type JsonObject } from "../operations/flag-values.ts";
import { isNested, isTimestamp } from "../operations/flags.ts";
import type { Command } from "../operations/groups.ts";
import { kebabOfSnake } from "../operations/names.ts";

/** What of an answer can be drawn: a list of rows, found by the fields from the answer down, and the parts of a row. */
export interface Plot {
  readonly path: readonly DescField[];
  /** What a row is called; undefined where rows are moments. */
  readonly label: DescField | undefined;
  readonly time: DescField | undefined;
  readonly values: readonly DescField[];
  readonly share: DescField | undefined;
  /** The rows of each row, where a row is a series. */
  readonly points: Plot | undefined;
}

const whole: ReadonlySet<ScalarType | undefined> = new Set([
  ScalarType.INT32,
  ScalarType.INT64,
  ScalarType.UINT32,
  ScalarType.UINT64,
]);

/** What can be drawn of an operation's answer: rows of numbers about visits. Undefined where it has none. */
export function plotOf({ method, binding }: Pick<Command, "method" | "binding">): Plot | undefined {
  const [, , area = ""] = binding.template.text.split("/");
  return ["analytics", "timeseries", "metrics"].includes(area) ? plotIn(method.output) : undefined;
}

function plotIn(schema: DescMessage): Plot | undefined {
  const list = schema.fields.find(isMessageList);
  if (list?.message !== undefined) return plotOfRows(list.message, [list]);
  const [inner, ...others] = schema.fields.filter(isNested);
  if (inner === undefined || others.length > 0) return undefined;
  const plot = plotIn(inner.message);
  return plot && { ...plot, path: [inner, ...plot.path] };
}

function plotOfRows({ fields }: DescMessage, path: readonly DescField[]): Plot | undefined {
  if (fields.some(({ name }) => name === "id")) return undefined;
  const single = fields.filter(({ fieldKind }) => fieldKind !== "list" && fieldKind !== "map");
  const time = single.find(isTimestamp);
  const numbers = single.filter(({ scalar }) => whole.has(scalar));
  const text = single.find(
    ({ scalar, enum: ofNames }) => scalar === ScalarType.STRING || ofNames !== undefined,
  );
  // Rows of numbers only, such as hours and their visits, are called by their first number.
  const label = text ?? (time === undefined && numbers.length > 1 ? numbers[0] : undefined);
  const values = numbers.filter((field) => field !== label);
  const lists = fields.filter(isMessageList);
  const points =
    values.length === 0 && lists[0]?.message ? plotOfRows(lists[0].message, [lists[0]]) : undefined;
  if (values.length === 0 && points?.time === undefined) return undefined;
  const share = single.find(({ name }) => name === "percentage" || name === "conversion_rate");
  return { path, label, time, values: time === undefined ? values.slice(0, 1) : values, share, points };
}

/** Numbers with a name: those of rows, or those of one value over time. */
export interface Numbers {
  readonly name: string;
  readonly values: readonly number[];
}

/** The rows of a plot in an answer. */
export function rowsIn({ path }: Plot, json: JsonObject): JsonObject[] {
  let found: JsonObject[] = [json];
  for (const field of path)
    found = found.flatMap((each) => {
      const value = each[field.jsonName];
      return isMessageList(field) ? objectsIn(value) : isJsonObject(value) ? [value] : [];
    });
  return found;
}

/** A whole number of a row. It is 0 where the answer lacks it; 64-bit numbers are texts in JSON. */
export function numberIn(field: DescField | undefined, row: JsonObject): number {
  const value = Number(field === undefined ? 0 : (row[field.jsonName] ?? 0));
  return Number.isFinite(value) ? value : 0;
}

export function textIn(field: DescField | undefined, row: JsonObject): string {
  return field === undefined ? "" : displayText(field, row[field.jsonName]);
}

/** What people call a field: `new visitors` for `new_visitor_count`. */
export function nameOf({ name }: DescField): string {
  return kebabOfSnake(name.replace(/_count$/, "s")).replaceAll("-", " ");
}
