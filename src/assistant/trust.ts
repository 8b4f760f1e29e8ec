import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import type { ToolKind } from "./tools.ts";

/**
 * Who may be obeyed. The caller's own message may be. Whatever else the assistant reads may hold orders of a stranger: a form's
 * answer, a name, a referer, a file. A model cannot be relied on to see the difference, so that nothing here looks at what a text
 * says. Once a model has read a text of a stranger, it is tainted, and so is all that it says from then on: a later turn
 * that reads this is tainted, too.
 */

/** What becomes of a call of a tool: it is run, or shown to the caller, who may confirm it. */
export type Verdict = "run" | "offer";

/** Judges a call. A tainted model changes nothing by itself, and no model ever deletes anything. */
export function judge(kind: ToolKind, isTainted: boolean): Verdict {
  if (kind === "read") return "run";
  return kind === "write" && !isTainted ? "run" : "offer";
}

/** Ids, numbers, times and colors. Whoever chose them could not write an order with them. */
const wordless =
  /^(?:[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|[+-]?\d{1,20}(?:\.\d{1,20})?|\d{4}-\d\d-\d\dT[\d:.]{1,20}Z|#[\da-f]{3,8})?$/i;

/**
 * Whether a message, as JSON, holds a text that somebody else may have chosen. Only the message's own enums, numbers, times and
 * ids are none.
 */
export function holdsTexts(desc: DescMessage, json: JsonValue): boolean {
  if (desc.typeName === "google.protobuf.Timestamp" || desc.typeName === "google.protobuf.Duration")
    return false;
  if (desc.typeName.startsWith("google.") || typeof json !== "object" || json === null || Array.isArray(json))
    return holdsWords(json);
  return desc.fields.some((field) => fieldHoldsTexts(field, json[field.jsonName]));
}

function fieldHoldsTexts(field: DescField, json: JsonValue | undefined): boolean {
  if (json === undefined) return false;
  if (field.fieldKind === "map")
    return typeof json === "object" && json !== null && Object.keys(json).length > 0;
  const values = Array.isArray(json) ? json : [json];
  const { message } = field;
  if (message !== undefined) return values.some((value) => holdsTexts(message, value));
  return field.enum === undefined && values.some(holdsWords);
}

/** Whether a value of JSON is, or holds, a text. */
function holdsWords(json: JsonValue): boolean {
  if (typeof json === "string") return !wordless.test(json);
  return typeof json === "object" && json !== null && JSON.stringify(json).length > 2;
}
