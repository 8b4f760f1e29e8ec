import type { DescField } from "@bufbuild/protobuf";
import { singular } from "../model/operation-names.ts";
import {
  type CellField,
  canCut,
  cellFields,
  cellText,
  displayText,
  isMessageList,
  type Listing,
  listingOf,
  objectsIn,
  type Part,
  unwrap,
} from "./operations/answer-fields.ts";
import { isJsonObject, type JsonObject } from "./operations/flag-values.ts";
import { isNested } from "./operations/flags.ts";
import { kebabOfSnake } from "./operations/names.ts";
import { printable } from "./outcome.ts";
import { type Column, layOutColumns, pairLines, type TableLayout, tableLine } from "./table.ts";

/** Prints one page after the other, with the columns chosen for the first one. */
export interface Shower {
  /** The lines of an answer; for a list without the line of totals. */
  page(part: Part): string[];
  /** The lines after the last page. */
  end(): string[];
}

/** Shows answers as tables and records within a width in characters. */
export function createShower(width: number): Shower {
  let table: Table | undefined;
  let shownCount = 0;
  let last: { readonly part: Part; readonly listing: Listing } | undefined;
  return {
    page(answer) {
      const part = unwrap(answer);
      const listing = listingOf(part);
      if (listing === undefined) return recordLines(part, width);
      last = { part, listing };
      shownCount += listing.rows.length;
      if (listing.rows.length === 0) return [];
      const lines = table === undefined ? [] : rowsOf(table, listing.rows);
      if (table !== undefined) return lines;
      table = tableFor(listing, width);
      return [headerOf(table), ...rowsOf(table, listing.rows)];
    },
    end() {
      if (last === undefined) return [];
      return [...(shownCount > 0 ? [""] : []), totalsLine(last.part, last.listing, shownCount)];
    },
  };
}

interface Table {
  readonly fields: readonly CellField[];
  readonly columns: readonly Column[];
  readonly layout: TableLayout;
}

function tableFor({ element, rows }: Pick<Listing, "element" | "rows">, width: number): Table {
  const fields = cellFields(element);
  const columns = fields.map((field) => ({
    header: field.name.toUpperCase(),
    cells: rows.map((row) => printable(cellText(field, row))),
    canCut: canCut(field),
  }));
  return { fields, columns, layout: layOutColumns(columns, width) };
}

function headerOf({ columns, layout }: Table): string {
  return tableLine(
    layout,
    columns,
    columns.map(({ header }) => header),
  );
}

function rowsOf({ fields, columns, layout }: Table, rows: readonly JsonObject[]): string[] {
  return rows.map((row) =>
    tableLine(
      layout,
      columns,
      fields.map((field) => cellText(field, row)),
    ),
  );
}

function totalsLine({ schema, json }: Part, { list }: Listing, shownCount: number): string {
  // Some messages write 64-bit numbers as texts in JSON.
  const total = json.totalCount === undefined ? undefined : Number(json.totalCount);
  const noun = nounOf(list.name, total ?? shownCount);
  const of = total === undefined || total === shownCount ? "" : ` of ${total.toLocaleString("en-US")}`;
  const next = typeof json.nextPageToken === "string" ? json.nextPageToken : "";
  const facts = schema.fields
    .filter((field) => field !== list && !["total_count", "next_page_token", "has_more"].includes(field.name))
    .map((field) => [kebabOfSnake(field.name), printable(displayText(field, json[field.jsonName]))] as const)
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `; ${name} ${text}`);
  const more = next === "" ? "" : `; more with --all or --page-token ${printable(next)}`;
  return `${shownCount.toLocaleString("en-US")}${of} ${noun}${facts.join("")}${more}`;
}

function nounOf(name: string, count: number): string {
  const words = name.split("_");
  const last = words.pop() ?? "";
  return [...words, count === 1 ? singular(last) : last].join(" ");
}

/** Shows a record as names and values, with its lists as tables below. */
function recordLines({ schema, json }: Part, width: number): string[] {
  const pairs: [name: string, text: string][] = [];
  const tables: string[] = [];
  // The first message of an answer is its subject; its fields need no prefix.
  const main = schema.fields.find((field) => isNested(field) && isJsonObject(json[field.jsonName]));
  const isAnswer = schema.name.endsWith("Response");
  const visit = (fields: readonly DescField[], values: JsonObject, prefix: string) => {
    for (const field of fields) {
      const value = values[field.jsonName];
      const name = `${prefix}${kebabOfSnake(field.name)}`;
      if (isNested(field)) {
        const inner = isAnswer && field === main ? "" : `${name}.`;
        if (isJsonObject(value)) visit(field.message.fields, value, inner);
      } else if (isMessageList(field)) {
        tables.push(...listTable(field, name, objectsIn(value), width));
      } else {
        const text = printable(displayText(field, value));
        if (text !== "" && text !== "{}") pairs.push([name, text]);
      }
    }
  };
  visit(schema.fields, json, "");
  if (pairs.length === 0 && tables.length === 0) return ["done"];
  return [...pairLines(pairs), ...tables];
}

function listTable(field: DescField, name: string, rows: readonly JsonObject[], width: number): string[] {
  if (rows.length === 0 || field.message === undefined) return [];
  const table = tableFor({ element: field.message, rows }, width);
  return ["", `${name}:`, headerOf(table), ...rowsOf(table, rows)];
}
