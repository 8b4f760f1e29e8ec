import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { answersTable } from "../../rest/encode-csv.ts";
import { isJsonObject, type JsonObject } from "./flag-values.ts";
import { shortName } from "./flags.ts";
import type { Command } from "./groups.ts";

/** The page size when all pages are wanted; the service clamps it to a list's own maximum. */
export const pageSizeMax = 1000;

/** Whether an operation answers in pages. */
export function isPaged({ method }: Command): boolean {
  return method.input.fields.some(({ name }) => name === "page_token");
}

/**
 * The token of the next page, in the answer or in the one message that the answer wraps; undefined on the last page.
 */
export function nextTokenOf(json: JsonObject): string | undefined {
  const places = [json, ...Object.values(json).filter(isJsonObject)];
  const tokens = places.map((place) => place.nextPageToken);
  return tokens.find((token): token is string => typeof token === "string" && token !== "");
}

/** Joins two pages into one answer: lists are appended, everything else comes from the last page. */
export function joinPages(before: unknown, after: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(after)) return [...before, ...after];
  if (!isJsonObject(before) || !isJsonObject(after)) return after;
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, joinPages(before[name], value)]),
  );
}

/** The request field and value that ask for CSV; undefined when the operation has none. */
export function csvField(input: DescMessage): { field: DescField; value: string } | undefined {
  for (const field of input.fields) {
    const schema = field.enum;
    const csv = schema?.values.find(({ name }) => shortName(schema, name) === "CSV");
    if (csv !== undefined) return { field, value: csv.jsonName };
  }
  return undefined;
}

/** Whether an operation has CSV: in a field of its answer, or as the answer. */
export function hasCsv({ binding, method }: Command): boolean {
  return csvField(method.input) !== undefined || answersTable(binding);
}

/** The CSV text in an answer. */
export function csvText(json: JsonObject): string {
  const places = [json, ...Object.values(json).filter(isJsonObject)];
  const text = places.map((place) => place.csvData).find((data) => typeof data === "string");
  return typeof text === "string" ? text : "";
}

/** CSV text without its header row; no column name contains a line break. */
export function withoutHeader(csv: string): string {
  const end = csv.indexOf("\n");
  return end === -1 ? "" : csv.slice(end + 1);
}
