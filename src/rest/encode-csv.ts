import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { csvLine } from "../lib/paging/csv.ts";
import { type CsvTable, messageColumns, messagesCsv } from "../lib/paging/message-csv.ts";
import { type Binding, isHttpBody } from "./binding.ts";
import type { Encode } from "./encode.ts";

/** The rows of an answer: messages, and which list within each of them has rows of its own. */
interface Rows {
  /** The fields that lead to the message or to the list of messages. */
  readonly path: readonly DescField[];
  readonly row: DescMessage;
}

/**
 * Writes an answer as a table, for callers that accept `text/csv`: a row for each message of its one list, or one row
 * when it has none. A list within these messages has a row for each of its elements instead. Undefined for calls that
 * write, and for lists with pages, which say themselves whether they are tables.
 */
export function csvEncoder(binding: Binding): Encode | undefined {
  const rows = rowsOfCall(binding);
  if (rows === undefined) return undefined;
  const table = tableOf(rows.row);
  return (message) => {
    const lines = messagesAt(message, rows.path).map(table.row);
    return { contentType: "text/csv; charset=utf-8", body: table.header + lines.join("") };
  };
}

/** Whether a call answers with a table when it is asked for one. */
export function answersTable(binding: Binding): boolean {
  return rowsOfCall(binding) !== undefined;
}

function rowsOfCall({ method, responseField }: Binding): Rows | undefined {
  const isReading = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  const isPaged = method.input.fields.some(({ name }) => name === "page_token");
  if (!isReading || isPaged || responseField !== undefined || isHttpBody(method.output)) return undefined;
  return rowsOf(method.output);
}

/** The table of some messages, or of the elements of the list within them. */
function tableOf(row: DescMessage): CsvTable<Message> {
  const outer = messagesCsv(row, new Set());
  const [list, ...others] = row.fields.filter(
    (field) => field.fieldKind === "list" && field.message !== undefined,
  );
  if (list?.message === undefined || others.length > 0) return outer;
  const inner = messagesCsv(list.message, new Set());
  const names = messageColumns(list.message, new Set()).map(({ path }) => [list.jsonName, ...path].join("."));
  const nothing = csvLine(names.map(() => undefined));
  return {
    header: joined(outer.header, csvLine(names)),
    row(message) {
      const elements = messagesAt(message, [list]);
      const lines = elements.length === 0 ? [nothing] : elements.map(inner.row);
      // Written once: it takes as long as the whole message is.
      const own = outer.row(message);
      return lines.map((line) => joined(own, line)).join("");
    },
  };
}

/** Makes one line of two. */
function joined(one: string, other: string): string {
  return `${one.slice(0, -"\r\n".length)},${other}`;
}

/** Where the rows of an answer are; undefined where that is not plain. */
function rowsOf(answer: DescMessage): Rows | undefined {
  const lists = answer.fields.filter((field) => field.fieldKind === "list");
  const [list, ...others] = lists;
  if (others.length > 0) return undefined;
  if (list !== undefined) return list.message && { path: [list], row: list.message };
  const [inner, ...further] = answer.fields.filter(
    (field) => field.fieldKind === "message" && isObject(field),
  );
  if (inner?.message === undefined) return { path: [], row: answer };
  if (further.length > 0) return undefined;
  const within = rowsOf(inner.message);
  return within && { path: [inner, ...within.path], row: within.row };
}

/** Whether a field holds a message of ours; times and the like are single values. */
function isObject({ message }: DescField): boolean {
  return message !== undefined && !message.typeName.startsWith("google.protobuf.");
}

function messagesAt(message: Message, path: readonly DescField[]): Message[] {
  let found: unknown[] = [message];
  // The path comes from the descriptor of the answer.
  for (const { localName } of path)
    found = found.flatMap((each) => (each as Readonly<Record<string, unknown>>)[localName] ?? []);
  return found as Message[];
}

/** Whether a caller prefers a table to JSON. */
export function acceptsCsv(accept: string | undefined): boolean {
  const [first = ""] = (accept ?? "").split(",", 1);
  return /^\s*text\/csv\s*(?:;|$)/i.test(first);
}
